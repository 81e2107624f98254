// The flows in words: which are drawn, which stands out, and how much goes by each at the moment of the clock.

import type { Flow } from "./runinfo";
import * as flows from "./flows";
import { Swatch } from "./legend";
import { marksAt, NO_MARKS } from "./marks";
import * as state from "./state";

const MOST_LISTED = 100, MOST_LINKS = 12;

/** The flows of the run; of one under way, those that are heard of now. */
function known(heard: Iterable<number>): (Flow | { id: number })[] {
  const list = state.info.value?.flows ?? [];
  const more = [...heard].filter((id) => id >= 0 && !list.some((f) => f.id === id)).sort((a, b) => a - b);
  return [...list, ...more.map((id) => ({ id }))];
}

/** How many packets of a flow were received in the whole run, in words. */
const ofRun = (f: Flow): string => `${f.received ?? "an unknown number"} of ${f.sent ?? "an unknown number of"} packets received in the whole run`;

export function Flows({ t }: { t: number; arrivals: number }) {
  const marks = state.stretches ? marksAt(state.stretches, t, state.speed.value) : NO_MARKS;
  const all = known(marks.flows.keys());
  if (all.length === 0 && !state.live.value && (state.info.value?.rows ?? 0) === 0) return null;
  // Nothing of what is on its way is 0.
  const rate = (bytes: number | undefined) => (marks.isComplete ? flows.showRate(flows.rateOf(bytes ?? 0, marks)) : "–");
  const chosen = flows.chosen.value, span = Number(marks.span_s.toFixed(1));
  const links = flows.united(marks.routes.filter((r) => chosen === null || r.flow === chosen)).sort((a, b) => b.bytes - a.bytes);
  const rest = marks.flows.get(-1);
  const areAllHidden = all.length > 0 && all.every((f) => flows.hidden.value.has(f.id));
  return (
    <details open>
      <summary>{all.length > 0 ? `Flows (${all.length})` : "Data by link"}</summary>
      <p class="chart-bar">
        <label><input type="checkbox" checked={flows.ratesShown.value} onChange={(e) => { flows.ratesShown.value = e.currentTarget.checked; }} /> Rates on the map</label>
        {all.length > 0 && <button type="button" onClick={() => { flows.hidden.value = new Set(areAllHidden ? [] : all.map((f) => f.id)); }}>{areAllHidden ? "Show all flows" : "Hide all flows"}</button>}
      </p>
      {(all.length > 0 || rest) && <div class="scroll" tabIndex={0} role="region" aria-label="Table of flows">
        <table class="flow-table">
          <thead><tr><th scope="col">Flow</th><th scope="col">From, to</th><th scope="col">Delivered</th><th scope="col">Sent</th><th scope="col" title="Share of the packets of the whole run that were received">Run, %</th></tr></thead>
          <tbody>{all.slice(0, MOST_LISTED).map((f) => (
            <tr key={f.id} class={f.id === chosen ? "selected" : ""}>
              <th scope="row">
                <input type="checkbox" aria-label={`Draw flow ${f.id}`} checked={!flows.hidden.value.has(f.id)} onChange={() => flows.toggle(f.id)} />
                <button type="button" aria-pressed={f.id === chosen} title="Highlight it on the map" onClick={() => { flows.chosen.value = f.id === chosen ? null : f.id; }}><Swatch flow={f.id} /> {f.id} {"kind" in f ? f.kind : ""}</button>
              </th>
              <td title={"kind" in f ? flows.endsInWords(f, state.nameOf, true) : undefined}>{"kind" in f ? flows.endsInWords(f, state.nameOf) : "–"}</td>
              <td>{rate(marks.flows.get(f.id)?.delivered)}</td><td>{rate(marks.flows.get(f.id)?.sent)}</td><td title={"kind" in f ? ofRun(f) : undefined}>{"kind" in f && f.delivery_ratio !== null ? Number((100 * f.delivery_ratio).toFixed(1)) : "–"}</td>
            </tr>
          ))}
          {rest && <tr><th scope="row">other data</th><td>–</td><td>{rate(rest.delivered)}</td><td>{rate(rest.sent)}</td><td>–</td></tr>}
          </tbody>
        </table>
      </div>}
      {all.length > MOST_LISTED && <p class="note">The first {MOST_LISTED} of {all.length}.</p>}
      <details open={all.length === 0}>
        <summary>Links now ({marks.isComplete ? links.length : "loading …"})</summary>
        <ol class="links">{links.slice(0, MOST_LINKS).map((l) => <li key={`${l.node} ${l.peer}`}>{state.nameOf(l.node)} → {state.nameOf(l.peer)}: {flows.showRate(flows.rateOf(l.bytes, marks))}</li>)}</ol>
        {links.length > MOST_LINKS && <p class="note">and {links.length - MOST_LINKS} more</p>}
      </details>
      <p class="note" role="status">{!marks.isComplete && "Loading the packets of this time …"}</p>
      <p class="note">Delivered, sent and links: IP packets in the last {span} s{chosen === null ? "" : `; links of flow ${chosen}`}.</p>
    </details>
  );
}
