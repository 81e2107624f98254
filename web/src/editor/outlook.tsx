// What movement and range alone allow: parts of the network and hops over the run's time.

import * as doc from "./document";
import { linksAt, stepAt } from "./model";

const WIDTH = 300;

/** A strip over the whole run: higher is more; hatched is no way at all. */
function Strip({ steps, label }: { steps: [number, number | null][]; label: string }) {
  const end = doc.drawn.value?.duration_s ?? 1;
  const most = Math.max(1, ...steps.map(([, v]) => v ?? 0));
  const x = (s: number) => (s / end) * WIDTH;
  return (
    <svg class="strip" viewBox={`0 0 ${WIDTH} 22`} preserveAspectRatio="none" role="img" aria-label={label}>
      <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="2.5" height="6" /></pattern></defs>
      {steps.map(([from, v], i) => {
        const to = steps[i + 1]?.[0] ?? end, left = x(from), width = Math.max(0.5, x(to) - left);
        const height = v === null ? 22 : 3 + (17 * v) / most;
        return <rect key={i} class="some" fill={v === null ? "url(#hatch)" : undefined} data-none={v === null ? "" : undefined} x={left} y={22 - height} width={width} height={height} />;
      })}
      <line class="now" x1={x(doc.seconds.value)} x2={x(doc.seconds.value)} y1="0" y2="22" />
    </svg>
  );
}

const words = (hops: number | null | undefined) => (hops === null || hops === undefined ? "no path" : hops === 1 ? "1 hop" : `${hops} hops`);

export function Outlook() {
  const d = doc.drawn.value;
  if (!d || d.names.length === 0) return null;
  const { geometry } = d, t = doc.seconds.value;
  if (geometry.without) return <details open><summary>Connectivity</summary><p class="note">{geometry.without}</p></details>;
  const parts = geometry.parts ?? [], now = stepAt(parts, t) ?? d.names.length;
  const joined = geometry.links ? linksAt(geometry.links, t) : null;
  const told = parts.map(([from, n]) => `from ${from.toFixed(1)} s ${n}`).slice(0, 20).join(", ");
  return (
    <details open>
      <summary>Connectivity</summary>
      <p aria-live="polite" class="outlook">At {t.toFixed(1)} s: {joined ? joined.length === 2 ? "1 link" : `${joined.length / 2} links` : "…"}, {now === 1 ? "one network" : `${now} partitions`}.</p>
      <h3>Partitions</h3>
      <Strip steps={parts} label={`Partitions: ${told}`} />
      {(geometry.hops ?? []).map((h) => {
        const name = `${doc.nodeName(h.src)} → ${doc.nodeName(h.dst)}`;
        const told = h.steps.map(([from, n]) => `from ${from.toFixed(1)} s ${words(n)}`).slice(0, 20).join(", ");
        return (
          <div key={name}>
            <h3>{name}: {h.unreachable_share === 1 ? "never a path" : words(stepAt(h.steps, t))}{h.unreachable_share && h.unreachable_share < 1 ? ` (no path ${(100 * h.unreachable_share).toFixed(0)} % of the time)` : ""}</h3>
            <Strip steps={h.steps} label={`Hops from ${name}: ${told}`} />
          </div>
        );
      })}
      <p class="note">Computed from distance alone, without fading, interference or a protocol. Also shown for two selected nodes. Hatched: no path.
        {geometry.moments !== undefined && ` Because many links change, this was computed at ${geometry.moments} evenly spaced times.`}</p>
    </details>
  );
}
