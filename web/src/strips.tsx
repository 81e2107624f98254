// Strip charts: any quantity of any node over the run, one below the other.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { showMoment } from "./clock";
import { CountProgress, isCounted, untilCounted } from "./counted";
import type { Frame } from "./frame";
import { type Line, Plot } from "./plot";
import { figures, greatest, isFigure, lengths, quantities, type Quantity, rates } from "./quantities";
import * as state from "./state";

interface Wanted { run: string | null; quantity: Quantity; node: number | null }
/** Of the run that was shown when the last one was added. */
const strips = signal<Wanted[]>([]);
const ours = () => strips.value.filter((s) => s.run === state.runName.value);
const MOST_STRIPS = 12;
const COUNTS: Line[] = [{ label: "per second", colour: "#0072B2", night: "#56B4E9" }];
const FIGURES: Line[] = [{ label: "mean", colour: "#0072B2", night: "#56B4E9" }, { label: "maximum", colour: "#D55E00", dash: [3, 3] }];

/** For a running run: the interval between counts, milliseconds, and the number of bins. */
const LIVE_MS = 1000, LIVE_BINS = 300;

/** Counts, asked for until they are complete; or a figure. */
function useFrame({ quantity, node }: Wanted): Frame | string | null {
  const [got, set] = useState<Frame | string | null>(null);
  const run = state.runName.value;
  useEffect(() => {
    let current = true;
    const load = async () => {
      for (let run = state.live.value; run && current;) {
        set(quantity.key.startsWith("sizes/") ? run.lengths(node, LIVE_BINS) : run.counts(node, LIVE_BINS));
        await new Promise((resolve) => setTimeout(resolve, LIVE_MS));
        run = state.live.value;
      }
      if (run === null) return;
      const ask = () => (quantity.key.startsWith("sends/") ? api.figure(run, quantity.key.slice(6), node)
        : quantity.key.startsWith("sizes/") ? api.sizes(run, node) : api.overview(run, node));
      await untilCounted(ask, () => current && !state.live.value, set);
    };
    load().catch((e: unknown) => { if (current) set(e instanceof Error ? e.message : String(e)); });
    return () => { current = false; };
  }, [run, quantity.key, node]);
  return got;
}

function Strip({ wanted, remove }: { wanted: Wanted; remove: () => void }) {
  const { quantity, node } = wanted;
  const frame = useFrame(wanted);
  const [data, set] = useState<(ArrayLike<number | null>)[] | null>(null);
  const hasFigures = isFigure(quantity.key), name = quantity.key.slice(6);
  useEffect(() => {
    if (frame === null || typeof frame === "string") { set(null); return; }
    set(quantity.key.startsWith("sends/") ? figures(frame, name) : quantity.key.startsWith("sizes/") ? lengths(frame, name) ?? [[], []] : rates(frame, quantity.key) ?? [[], []]);
  }, [frame]);
  const who = node === null ? "all nodes" : `node ${state.nameOf(node)}`;
  const last = data?.at(-1);
  const at = last ? greatest(last) : null;
  const isCounting = frame !== null && typeof frame !== "string" && !isCounted(frame);
  return (
    <section class="strip-chart" aria-label={`${quantity.label}, ${who}`}>
      <p class="chart-bar"><b>{quantity.label}, {who}</b><button type="button" onClick={remove} aria-label={`Remove the strip ${quantity.label}, ${who}`}>✕</button></p>
      {typeof frame === "string" && <p class="wrong" role="alert">⚠ {frame}</p>}
      {frame === null && hasFigures && <p class="note" role="status">Reading the table …</p>}
      {(frame === null || typeof frame !== "string") && !hasFigures && <CountProgress frame={frame} what={node === null ? "packets" : "the packets of each node"} />}
      {data && at !== null && last && (
        <>
          <Plot label={`${quantity.label}, ${who}, over the time of the run`} height={104} unit={quantity.unit} lines={hasFigures ? FIGURES : COUNTS} data={data} />
          <p class="note">Maximum{isCounting ? " so far" : ""}: {Number(last[at]!.toPrecision(3))} {quantity.unit}, at {showMoment(data[0][at]! * 1e9)}{hasFigures ? "; solid: mean, dashed: maximum" : ""}.</p>
        </>
      )}
      {data && at === null && !isCounting && <p class="note">{typeof frame !== "string" && frame?.head["cut"] ? "Not available per node: the run has too many nodes." : hasFigures ? `Not recorded, or always 0: the table ${quantity.key.slice(0, 5)} has no data.` : "None in this run."}</p>}
    </section>
  );
}

/** The lists that the run has the lengths of; none of a run of an older version. */
function useLists(): string[] {
  const [lists, set] = useState<string[]>([]);
  const run = state.runName.value;
  useEffect(() => {
    let current = true;
    set([]);
    if (state.live.value) {
      const look = () => { const got = state.live.value?.lengths(null, 1).head["lists"] as string[] | undefined; if (got) set((before) => (before.length === got.length ? before : got)); };
      look();
      const timer = setInterval(look, LIVE_MS);
      return () => clearInterval(timer);
    }
    if (run !== null) api.sizes(run, null).then((got) => { if (current) set(got.head["lists"] as string[]); }).catch(() => undefined);
    return () => { current = false; };
  }, [run]);
  return lists;
}

function Add() {
  const kinds = (state.totals.value?.head["kinds"] as string[] | undefined) ?? [];
  const all = quantities(kinds, useLists()).filter((q) => !state.live.value || !q.key.startsWith("sends/"));
  const [key, setKey] = useState("deliver");
  const [node, setNode] = useState("");
  const groups = [...new Set(all.map((q) => q.group))];
  const count = state.info.value?.nodes ?? 0;
  const add = (e: Event) => {
    e.preventDefault();
    const quantity = all.find((q) => q.key === key);
    const of = node === "" ? null : Number(node);
    if (!quantity || ours().some((s) => s.quantity.key === key && s.node === of)) return;
    strips.value = [...ours(), { run: state.runName.value, quantity, node: of }].slice(-MOST_STRIPS);
  };
  return (
    <form class="chart-bar" onSubmit={add}>
      <select aria-label="Quantity" value={key} onChange={(e) => setKey(e.currentTarget.value)}>
        {groups.map((g) => <optgroup key={g} label={g}>{all.filter((q) => q.group === g).map((q) => <option key={q.key} value={q.key}>{q.label}</option>)}</optgroup>)}
      </select>
      <select aria-label="Node of the strip" value={node} onChange={(e) => setNode(e.currentTarget.value)}>
        <option value="">all nodes</option>
        {Array.from({ length: Math.min(count, 2000) }, (_, n) => <option key={n} value={String(n)}>{state.nameOf(n)}</option>)}
      </select>
      <button type="submit">Add strip</button>
    </form>
  );
}

export function Strips() {
  return (
    <>
      <Add />
      {ours().map((s) => <Strip key={`${s.quantity.key} ${s.node}`} wanted={s} remove={() => { strips.value = strips.value.filter((o) => o !== s); }} />)}
      {ours().length === 0 && <p class="note">Choose a quantity to plot over time, for one node or all.</p>}
    </>
  );
}
