// The time-sequence plot of a TCP flow: what was sent, sent again and acknowledged, and when its source looked for routes.

import { useEffect, useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import * as api from "./api";
import { showMoment } from "./clock";
import { shape } from "./draw";
import type { Frame } from "./frame";
import { Plot, shown } from "./plot";
import { night } from "./night";
import { type Sequence, sequence, visible } from "./sequence";
import * as state from "./state";

interface Got { frame: Frame; discoveries: number[]; more: boolean }

async function load(run: string, flow: api.Flow, from: number, end: number): Promise<Got> {
  const frame = await api.tcp(run, flow.id, from, end + 1);
  const until = frame.head["until_ns"] as number;
  const remarks = await api.rows(run, "events", { node: flow.src, from: Math.round(from), to: Math.round(until) }).catch(() => []);
  const discoveries = remarks.filter((r) => r["what"] === "discovery_start").map((r) => Number(r["time_ns"]) / 1e9);
  return { frame, discoveries, more: until <= end };
}

function paint(u: uPlot, s: Sequence, discoveries: number[]): void {
  const g = u.ctx, dpr = devicePixelRatio;
  const x = (at: number) => u.valToPos(at, "x", true), y = (octet: number) => u.valToPos(octet / 1000, "y", true);
  g.save();
  g.beginPath(); g.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); g.clip();
  g.setLineDash([]);
  // Discoveries: a line from the bottom with a head, that no octet has.
  g.strokeStyle = g.fillStyle = night.value ? "#e69f00" : "#8a5a00";
  g.lineWidth = dpr;
  for (const at of discoveries) {
    const foot = u.bbox.top + u.bbox.height, top = foot - 18 * dpr;
    g.beginPath(); g.moveTo(x(at), foot); g.lineTo(x(at), top); g.stroke();
    g.beginPath(); g.moveTo(x(at) - 4 * dpr, top); g.lineTo(x(at) + 4 * dpr, top); g.lineTo(x(at), top + 6 * dpr); g.fill();
  }
  g.strokeStyle = night.value ? "#a3adb8" : "#5c6570";
  g.lineWidth = 1.5 * dpr;
  g.beginPath();
  s.acked.forEach(([at, octet], i) => {
    if (i === 0) g.moveTo(x(at), y(octet));
    else { g.lineTo(x(at), y(s.acked[i - 1][1])); g.lineTo(x(at), y(octet)); }
  });
  g.stroke();
  g.fillStyle = night.value ? "#56B4E9" : "#0072B2";
  for (const [at, octet] of s.sent) g.fillRect(x(at) - dpr, y(octet) - dpr, 2 * dpr, 2 * dpr);
  const ground = night.value ? "#14181d" : "#ffffff";
  for (const [at, octet] of s.again) shape(g, "cross", x(at), y(octet), "#D55E00", ground);
  for (const [at, octet] of s.timeouts) shape(g, "triangle", x(at), y(octet), "#CC79A7", ground);
  g.restore();
}

function Flow({ flow }: { flow: api.Flow }) {
  const [from, setFrom] = useState(0);
  const [got, set] = useState<Got | string | null>(null);
  const run = state.runName.value, end = state.end.value;
  useEffect(() => {
    let current = true;
    set(null);
    if (run !== null) {
      load(run, flow, from, end).then((g) => { if (current) set(g); }, (e: unknown) => { if (current) set(e instanceof Error ? e.message : String(e)); });
    }
    return () => { current = false; };
  }, [run, flow.id, from]);
  const frame = got !== null && typeof got !== "string" ? got.frame : null;
  const s = useMemo(() => (frame ? sequence(frame) : null), [frame]);
  const data = useMemo(() => (frame ? [Array.from(frame.columns["time_ns"], (t) => t / 1e9), Array.from(frame.columns["octet"], (o) => o / 1000)] : null), [frame]);
  if (typeof got === "string") return <p class="wrong" role="alert">⚠ {got}</p>;
  if (!got || !frame || !s || !data) return <p class="note" role="status">Reading …</p>;
  if (frame.head.rows === 0) return <p class="note">The table tcp has nothing of this flow{from > 0 ? " from here on" : ""}.</p>;
  const [first, last] = visible(data[0], data[1], shown.value);
  return (
    <>
      <Plot label={`Time-sequence plot of flow ${flow.id}: ${s.sent.length} segments sent, ${s.again.length} sent again, ${s.timeouts.length} timeouts, ${got.discoveries.length} route discoveries of the source`}
        height={260} unit="octets, thousands" lines={[{ label: "octets", colour: "" }]} data={data} y={[first, last]} draw={(u) => paint(u, s, got.discoveries)} />
      <p class="note">▪ sent ({s.sent.length})   — acknowledged   ✕ sent again ({s.again.length})   ▲ timeout ({s.timeouts.length})   ▼ the source looks for a route ({got.discoveries.length})</p>
      {got.more && <p class="note">Up to {showMoment(frame.head["until_ns"] as number)}. <button type="button" onClick={() => setFrom(frame.head["until_ns"] as number)}>What follows</button></p>}
      {from > 0 && <button type="button" onClick={() => setFrom(0)}>From the begin</button>}
    </>
  );
}

export function Tcp() {
  const flows = (state.info.value?.flows ?? []).filter((f) => f.kind === "tcp");
  const [id, choose] = useState<number | null>(null);
  if (flows.length === 0) return <p class="note">The run has no TCP flow.</p>;
  const flow = flows.find((f) => f.id === id) ?? flows[0];
  return (
    <>
      <p class="chart-bar"><label>Flow{" "}
        <select value={String(flow.id)} onChange={(e) => choose(Number(e.currentTarget.value))}>
          {flows.map((f) => <option key={f.id} value={String(f.id)}>{f.id}: {state.nameOf(f.src)} → {f.dst === null ? "all" : state.nameOf(f.dst)}</option>)}
        </select>
      </label></p>
      <Flow key={flow.id} flow={flow} />
    </>
  );
}
