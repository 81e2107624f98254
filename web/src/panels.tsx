// What stands beside the map: the nodes in words, one node in detail, flows, the latest events, the legend.

import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { Around } from "./around";
import { Chart } from "./chart";
import { Charts } from "./charts";
import { Comparison } from "./compare";
import { showMoment } from "./clock";
import { Flows } from "./flowpanel";
import { pairsInRange } from "./links";
import { LiveNode, Remarks } from "./live/panel";
import { places } from "./map";
import { tell } from "./marks";
import type { Hop } from "./packets";
import { Reports } from "./start";
import * as state from "./state";
import { StoryPanel } from "./story";

const MOST_LISTED = 100, MOST_EVENTS = 12;
/** Words follow the picture so often, milliseconds. */
const WORDS_MS = 400;

/** What a panel gets: the moment, and how much has arrived, so that it is redrawn with either. */
interface Moment { t: number; arrivals: number }

/** The moment of the replay, slowly enough to be read. A jump, and what arrives while it does not play, is shown at once. */
function useSlowMoment(): Moment {
  const [moment, set] = useState<Moment>({ t: state.t.value, arrivals: state.arrivals.value });
  useEffect(() => {
    let shown = 0, waiting: ReturnType<typeof setTimeout> | undefined;
    const show = () => { shown = performance.now(); set({ t: state.t.peek(), arrivals: state.arrivals.peek() }); };
    let arrived = state.arrivals.peek();
    const stop = effect(() => {
      const isNews = state.arrivals.value !== arrived && !state.playing.value;
      arrived = state.arrivals.value;
      const wait = isNews ? 0 : shown + WORDS_MS - performance.now();
      // Read, so that a change is seen.
      void state.t.value;
      clearTimeout(waiting);
      if (wait <= 0) show(); else waiting = setTimeout(show, wait);
    });
    return () => { stop(); clearTimeout(waiting); };
  }, []);
  return moment;
}

const metres = (v: number) => (Number.isNaN(v) ? "–" : v.toFixed(1));

type Places = ReturnType<typeof places>;

/** Pairs of nodes that are in range; null where the run does not say. */
function pairsAt({ xs, ys, zs }: Places): Int32Array | null {
  const range = state.info.value?.range_m;
  return range === null || range === undefined || state.isNowhere() ? null : pairsInRange(xs, ys, zs, range);
}

/** How many nodes are in range of each. */
function degrees(at: Places): Int32Array | null {
  const all = pairsAt(at)?.reduce((count, node) => { count[node] += 1; return count; }, new Int32Array(at.xs.length));
  return all ?? null;
}

function neighbours(node: number, at: Places): number[] | null {
  const pairs = pairsAt(at);
  return pairs && [...pairs.keys()].filter((i) => pairs[i] === node).map((i) => pairs[i ^ 1]);
}

function Nodes({ t }: Moment) {
  const [wanted, want] = useState("");
  const info = state.info.value!;
  const at = places(t), { xs, ys } = at;
  const near = degrees(at);
  const text = wanted.trim().toLowerCase();
  const found: number[] = [];
  for (let n = 0; n < info.nodes; n += 1) {
    if (text === "" || state.nameOf(n).toLowerCase().includes(text) || (info.addresses[n] ?? "").includes(text)) found.push(n);
  }
  // A whole name comes before parts of names and of addresses.
  const best = text === "" ? undefined : info.names.findIndex((n) => n.toLowerCase() === text);
  if (best !== undefined && best >= 0) found.sort((a, b) => Number(b === best) - Number(a === best));
  return (
    <details open>
      <summary>Nodes ({info.nodes})</summary>
      <label class="find">Find{" "}
        <input id="find" type="search" value={wanted} placeholder="name or address" onInput={(e) => want(e.currentTarget.value)}
          onKeyDown={(e) => { if (e.key === "Enter" && found.length > 0) state.select(found[0]); }} />
      </label>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of nodes">
        <table>
          <thead><tr><th scope="col">Node</th><th scope="col">x, m</th><th scope="col">y, m</th><th scope="col">In range</th></tr></thead>
          <tbody>
            {found.slice(0, MOST_LISTED).map((n) => (
              <tr key={n} class={n === state.selected.value ? "selected" : ""}>
                <th scope="row"><button type="button" aria-pressed={n === state.selected.value} onClick={() => state.select(n === state.selected.value ? null : n)}>{state.nameOf(n)}</button></th>
                <td>{metres(xs[n])}</td><td>{metres(ys[n])}</td><td>{near ? near[n] : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length > MOST_LISTED && <p class="note">Only the first {MOST_LISTED} are listed; find others by name.</p>}
      {found.length === 0 && <p class="note">No node has that name or address.</p>}
    </details>
  );
}

function useRows(table: string, node: number, query: Record<string, number | boolean>): api.Row[] {
  const [rows, set] = useState<api.Row[]>([]);
  const run = state.runName.value;
  useEffect(() => {
    let current = true;
    if (run !== null) {
      api.rows(run, table, { node, ...query }).then((got) => { if (current) set(got); }).catch(() => { if (current) set([]); });
    }
    return () => { current = false; };
  }, [run, table, node, JSON.stringify(query)]);
  return rows;
}

function NodePanel({ node, t }: Moment & { node: number }) {
  const info = state.info.value!;
  const at = places(t), { xs, ys, zs } = at;
  const near = neighbours(node, at);
  const counters = useRows("counters", node, {});
  return (
    <details open>
      <summary>{state.titleOf(node)}</summary>
      <dl>
        <dt>Address</dt><dd>{info.addresses[node] ?? "–"}</dd>
        <dt>Position</dt><dd>{metres(xs[node])} m east, {metres(ys[node])} m north{zs[node] ? `, ${metres(zs[node])} m up` : ""}</dd>
        <dt>Speed</dt><dd>{state.motionAt(t)?.speed(node, t).toFixed(1) ?? "–"} m/s</dd>
        <dt>In range</dt><dd>{near ? near.map(state.nameOf).slice(0, 20).join(", ") + (near.length > 20 ? ", ..." : "") || "none" : "unknown: the run has no single radio model"}</dd>
        {state.hasTables.value && <Around node={node} t={t} />}
      </dl>
      <h3>Events over time</h3>
      <Chart />
      {counters.length > 0 && <details>
        <summary>Counters (whole run) ({counters.length})</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="Counters">
          <table><tbody>
            {counters.map((c, i) => <tr key={i}><th scope="row">{String(c["layer"])} {String(c["name"])}</th><td>{String(c["value"])}</td></tr>)}
          </tbody></table>
        </div>
      </details>}
    </details>
  );
}

/** A recorded run in which no application had anything to send. */
const hasNoFlows = (): boolean => state.live.value === null && state.info.value?.flows?.length === 0;

function Events({ t }: Moment) {
  const hops: Hop[] = [];
  const node = state.selected.value;
  const isComplete = state.stretches?.back(t, 0, node === null ? MOST_EVENTS : 5_000, (s, i) => {
    if (hops.length >= MOST_EVENTS) return;
    if (node === null || s.frame.columns["node"][i] === node) hops.push(s.row(i));
  });
  return (
    <details open>
      <summary>Latest events{node === null ? "" : ` of ${state.titleOf(node)}`.replace(" Node", " node")}</summary>
      <ol class="events">
        {hops.map((h, i) => <li key={i} class={h.event === "drop" ? "drop" : ""}><button type="button" onClick={() => { state.jump(h.t); state.select(h.node); state.tellPacket(h.packet); }}><time>{showMoment(h.t)}</time> {h.event === "drop" ? "✕ " : ""}{tell(h, state.nameOf)}</button></li>)}
      </ol>
      <p class="note" role="status">{isComplete === false && hops.length < MOST_EVENTS && "Loading the packets of this time …"}</p>
      {hops.length === 0 && isComplete !== false && <p class="note">{hasNoFlows() ? "The scenario has no flows, so nothing was sent." : "No events up to this time."}</p>}
    </details>
  );
}

export function Panels() {
  const moment = useSlowMoment(), { t } = moment;
  if (!state.info.value) return <aside class="panels" aria-label="Details"><Reports /></aside>;
  const node = state.selected.value;
  return (
    <aside class="panels" aria-label="Details">
      {state.hasTables.value && <StoryPanel />}
      {state.other.value && <Comparison key={state.other.value.name} other={state.other.value} />}
      {node !== null && (state.live.value ? <LiveNode key={node} node={node} t={t} /> : <NodePanel key={node} node={node} {...moment} />)}
      <Nodes {...moment} />
      <Flows {...moment} />
      <Events {...moment} />
      <Remarks />
      {node === null && <details open><summary>Events over time</summary><Chart /></details>}
      {(state.hasTables.value || state.live.value) && <Charts />}
      {state.hasTables.value && <Reports />}
    </aside>
  );
}
