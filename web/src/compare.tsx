// Two runs on one clock: their figures, their difference, and both over time.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import * as api from "./api";
import { CountProgress, isCounted, untilCounted } from "./counted";
import { figures, rateOf, type Series, soFar } from "./difference";
import { night } from "./night";
import { showPresent } from "./present";
import type { Recorded } from "./recorded";
import * as state from "./state";

/** Points of a line, and places and moments at which two motions are compared. */
const POINTS = 120, MOMENTS = 9;

/** The counts over a run as far as they are known. */
function useCounts(name: string | null): Series | null {
  const [counts, set] = useState<Series | null>(null);
  useEffect(() => {
    let current = true;
    set(null);
    if (name === null) return;
    untilCounted(() => api.overview(name, null), () => current, set).catch(state.complain);
    return () => { current = false; };
  }, [name]);
  return counts;
}

/** Whether nodes are at the same places in both runs, by the motion that is at hand; null while none is. */
function moveAlike(other: Recorded, moment: number): boolean | null {
  const own = state.info.value;
  if (!own || own.nodes !== other.info.nodes) return false;
  if (state.isNowhere() || other.isNowhere) return null;
  const a = state.motionAt(moment), b = other.motionAt(moment);
  if (!a || !b) return null;
  const end = Math.min(own.end_ns, other.info.end_ns);
  for (let i = 0; i < MOMENTS; i += 1) {
    const t = (end * i) / MOMENTS;
    if (!a.covers(t) || !b.covers(t)) continue;
    for (let n = 0; n < own.nodes; n += 1) {
      const p = a.at(n, t), q = b.at(n, t);
      if (p && q && Math.hypot(p.x - q.x, p.y - q.y, p.z - q.z) > 0.01) return false;
    }
  }
  return true;
}

interface Line { label: string; colour: string; night: string; dash: number[]; values: number[] }

function Lines({ seconds, lines, unit, label }: { seconds: number[]; lines: Line[]; unit: string; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!box.current) return;
    const ink = night.value ? "#c3ccd5" : "#3d4650", rule = night.value ? "#2b333c" : "#e3e6ea";
    const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule }, font: "11px system-ui" };
    const made = new uPlot({
      width: box.current.clientWidth || 300, height: 150, legend: { live: false }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 26, label: "seconds", labelSize: 16, labelFont: "11px system-ui" }, { ...axis, size: 54, label: unit, labelSize: 16, labelFont: "11px system-ui" }],
      series: [{}, ...lines.map((l) => ({ label: l.label, stroke: night.value ? l.night : l.colour, dash: l.dash, width: 1.5, points: { show: false } }))],
    }, [seconds, ...lines.map((l) => l.values)], box.current);
    made.over.addEventListener("click", (e) => state.jump(made.posToVal(e.offsetX, "x") * 1e9));
    const stop = showPresent(made);
    return () => { stop(); made.destroy(); };
  }, [seconds, lines, night.value]);
  return <div class="chart" ref={box} role="img" aria-label={label} />;
}

const OWN = { colour: "#0072B2", night: "#56B4E9", dash: [] }, BESIDE = { colour: "#D55E00", night: "#ff9a57", dash: [7, 4] };

function Charts({ own, beside, names }: { own: Series; beside: Series; names: [string, string] }) {
  const [a, b] = names;
  const end = Math.max(state.info.value?.end_ns ?? 0, state.other.value?.info.end_ns ?? 0) / 1e9;
  const { seconds, rates, less } = useMemo(() => {
    const seconds = Array.from({ length: POINTS }, (_, i) => ((i + 0.5) * end) / POINTS);
    const rate = (s: Series) => rateOf(s, "deliver", seconds, end / POINTS);
    const of = (kind: string) => seconds.map((s) => soFar(beside, kind, s) - soFar(own, kind, s));
    return {
      seconds, rates: [{ label: a, values: rate(own), ...OWN }, { label: b, values: rate(beside), ...BESIDE }],
      less: [{ label: "delivered", values: of("deliver"), ...OWN }, { label: "dropped", values: of("drop"), ...BESIDE }],
    };
  }, [own, beside, end, a, b]);
  return (
    <>
      <h3>Delivered per second</h3>
      <Lines seconds={seconds} unit="packets per second" label="Packets delivered per second in both runs" lines={rates} />
      <h3>{b} minus {a}, cumulative</h3>
      <Lines seconds={seconds} unit="packets" label="Cumulative difference of packets delivered and dropped" lines={less} />
      <p class="note">All packets, including requests, replies and acknowledgements; the table counts only packets that flows sent.</p>
    </>
  );
}

export function Comparison({ other }: { other: Recorded }) {
  const own = state.info.value!;
  const names: [string, string] = [state.runName.value ?? "", other.name];
  const counts = [useCounts(state.runName.value), useCounts(other.name)], [first, second] = counts;
  const ready = state.motionAt(state.t.value) !== null;
  const alike = useMemo(() => moveAlike(other, state.t.value), [other, names[0], ready]);
  return (
    <details open>
      <summary>{names[0]} and {names[1]}</summary>
      {alike === false && <p class="note">⚠ The nodes of the two runs are not at the same positions, so the protocol is not the only cause of a difference.</p>}
      {(state.isNowhere() || other.isNowhere) && <p class="note">{state.isNowhere() ? names[0] : names[1]} has no positions, so the movements cannot be compared.</p>}
      {alike === true && <p class="note">The nodes move in the same way in both runs.</p>}
      <div class="scroll compare" tabIndex={0} role="region" aria-label="Figures of both runs">
        <table>
          <thead><tr><th scope="col">Figure</th><th scope="col">{names[0]}</th><th scope="col">{names[1]}</th><th scope="col">Difference</th></tr></thead>
          <tbody>{figures(own.totals, other.info.totals).map((f) => (
            <tr key={f.name}><th scope="row">{f.name}</th><td>{f.own}</td><td>{f.beside}</td><td>{f.difference}</td></tr>
          ))}</tbody>
        </table>
      </div>
      {counts.map((frame, i) => <CountProgress key={i} frame={frame} what={`packets of ${names[i]}`} />)}
      {first && second && isCounted(first) && isCounted(second) && <Charts own={first} beside={second} names={names} />}
    </details>
  );
}
