// Losses by time and place: a sign for each, its shape the cause.

import { useEffect, useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import * as api from "./api";
import { causeOf, CAUSES } from "./causes";
import { showMoment } from "./clock";
import { CountProgress, isCounted, untilCounted } from "./counted";
import { shape } from "./draw";
import type { Frame } from "./frame";
import { type LossMark, lossMarks, nextLoss } from "./lossmarks";
import { Plot } from "./plot";
import { night } from "./night";
import * as state from "./state";
import { reasonInWords } from "./told";

type Axis = "node" | "x" | "y";
const REACH_PX = 12;

/** The losses that are known so far, and the frame that they are from. */
interface Known { list: LossMark[]; frame: Frame }

function useLosses(): Known | string | null {
  const [got, set] = useState<Known | string | null>(null);
  const run = state.runName.value;
  useEffect(() => {
    let current = true;
    set(null);
    if (run === null) return;
    untilCounted(() => api.losses(run), () => current, (frame) => set({ list: lossMarks(frame), frame })).catch((e: unknown) => { if (current) set(e instanceof Error ? e.message : String(e)); });
    return () => { current = false; };
  }, [run]);
  return got;
}

/** Goes to the next loss and tells its story, or to the one before, and waits for it while losses are counted. Says whether there is one. */
export async function goToLoss(forward: boolean): Promise<boolean> {
  const run = state.runName.value, t = state.t.value, packet = state.packet.value;
  if (run === null || !state.hasTables.value) return false;
  let isFound = false;
  // Nobody waits for it who has gone somewhere else.
  const isWanted = () => !isFound && run === state.runName.value && t === state.t.value && packet === state.packet.value;
  await untilCounted(() => api.losses(run), isWanted, (frame) => {
    // They are counted in order: the next one is known first, the one before once nothing between can come.
    const next = forward || isCounted(frame) ? nextLoss(lossMarks(frame), t, packet, forward) : null;
    isFound = next !== null;
    if (next) go(next);
  });
  return isFound || t !== state.t.value;
}

function go(loss: LossMark): void {
  state.playing.value = false;
  state.jump(loss.t);
  state.select(loss.node);
  state.tellPacket(loss.packet);
}

export function Losses() {
  const got = useLosses();
  const [axis, setAxis] = useState<Axis>("node");
  const list = got !== null && typeof got !== "string" ? got.list : [];
  const data = useMemo(() => [list.map((l) => l.t / 1e9), list.map((l) => l[axis])], [got, axis]);
  if (typeof got === "string") return <p class="wrong" role="alert">⚠ {got}</p>;
  if (got === null || (list.length === 0 && !isCounted(got.frame))) return <CountProgress frame={got?.frame ?? null} what="losses" />;
  if (list.length === 0) return <p class="note">No packets were lost in this run.</p>;
  const values = list.map((l) => l[axis]).filter((v) => !Number.isNaN(v));
  const low = axis === "node" ? -1 : values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = axis === "node" ? state.info.value!.nodes : values.reduce((a, b) => Math.max(a, b), -Infinity);
  const margin = axis === "node" ? 0 : Math.max(1, (high - low) * 0.06);
  const draw = (u: uPlot) => {
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    u.ctx.clip();
    u.ctx.setLineDash([]);
    for (const l of list) {
      if (Number.isNaN(l[axis])) continue;
      const cause = causeOf(l.reason);
      shape(u.ctx, cause.shape, u.valToPos(l.t / 1e9, "x", true), u.valToPos(l[axis], "y", true), cause.colour, night.value ? "#14181d" : "#ffffff");
    }
    u.ctx.restore();
  };
  const pick = (u: uPlot, x: number, y: number) => {
    let best: LossMark | null = null, least = REACH_PX;
    for (const l of list) {
      const far = Math.hypot(u.valToPos(l.t / 1e9, "x") - x, u.valToPos(l[axis], "y") - y);
      if (far < least) { least = far; best = l; }
    }
    if (best) go(best);
    return best !== null;
  };
  const step = (forward: boolean) => { const next = nextLoss(list, state.t.value, state.packet.value, forward); if (next) go(next); };
  const told = list.find((l) => l.packet === state.packet.value && l.t === state.t.value);
  const used = CAUSES.filter((c) => list.some((l) => causeOf(l.reason) === c));
  return (
    <>
      <p class="chart-bar">
        <label>Place{" "}
          <select value={axis} onChange={(e) => setAxis(e.currentTarget.value as Axis)}>
            <option value="node">node</option><option value="x">metres east</option><option value="y">metres north</option>
          </select>
        </label>
        <button type="button" onClick={() => step(false)}>◀ Loss</button>
        <button type="button" onClick={() => step(true)}>Loss ▶</button>
      </p>
      {values.length === 0 ? <p class="note">The run has no positions.</p>
        : <Plot label={`${list.length} losses over time, by ${axis === "node" ? "node" : "position"}; step through them with the buttons`} height={230} unit={axis === "node" ? "node" : "metres"}
            lines={[{ label: "losses", colour: "" }]} data={data} y={[low - margin, high + margin]}
            tick={axis === "node" ? (v) => (Number.isInteger(v) && v >= 0 && v < high ? state.nameOf(v) : "") : (v) => String(v)} draw={draw} pick={pick} />}
      <p class="note" aria-live="polite">
        {told ? `${showMoment(told.t)}, node ${state.nameOf(told.node)}: ${told.reason}, ${reasonInWords(told.reason)}` : used.map((c) => `${c.sign} ${c.label}`).join("   ")}
      </p>
      <CountProgress frame={got.frame} what="losses" />
      {got.frame.head["more"] === true && <p class="note">The first {list.length} losses.</p>}
    </>
  );
}
