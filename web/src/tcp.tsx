// The time-sequence plots of TCP flows and of programs' connections: what was sent, sent again and acknowledged, and when its source looked for routes.

import { useEffect, useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import * as api from "./api";
import { showMoment } from "./clock";
import { shape } from "./draw";
import type { Frame } from "./frame";
import { Plot, shown } from "./plot";
import { endsInWords } from "./flows";
import { night } from "./night";
import { looked, type Sequence, sequence, visible } from "./sequence";
import * as state from "./state";

interface Got { frame: Frame; discoveries: number[]; more: boolean }

async function load(run: string, flow: api.Flow, from: number, end: number): Promise<Got> {
  const frame = await api.tcp(run, flow.id, from, end + 1);
  const until = frame.head["until_ns"] as number;
  return { frame, discoveries: await searches(run, flow.src, from, until), more: until <= end };
}

/** When a node began to look for a route, in seconds. */
async function searches(run: string, node: number | null, from: number, to: number): Promise<number[]> {
  if (node === null) return [];
  const remarks = await api.rows(run, "events", { node, from: Math.round(from), to: Math.round(to) }).catch(() => []);
  return remarks.filter((r) => r["what"] === "discovery_start").map((r) => Number(r["time_ns"]) / 1e9);
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
  if (frame.head.rows === 0) return <p class="note">The table tcp has no data for this flow{from > 0 ? " after this time" : ""}.</p>;
  const [first, last] = visible(data[0], data[1], shown.value);
  return (
    <>
      <Plot label={`Time-sequence plot of flow ${flow.id}: ${s.sent.length} segments sent, ${s.again.length} retransmitted, ${s.timeouts.length} timeouts, ${got.discoveries.length} route discoveries by the source`}
        height={260} unit="kB" lines={[{ label: "bytes", colour: "" }]} data={data} y={[first, last]} draw={(u) => paint(u, s, got.discoveries)} />
      <p class="note">▪ sent ({s.sent.length})   — acknowledged   ✕ sent again ({s.again.length})   ▲ timeout ({s.timeouts.length})   ▼ the source looks for a route ({got.discoveries.length})</p>
      {got.more && <p class="note">Up to {showMoment(frame.head["until_ns"] as number)}. <button type="button" onClick={() => setFrom(frame.head["until_ns"] as number)}>Next part</button></p>}
      {from > 0 && <button type="button" onClick={() => setFrom(0)}>Back to the start</button>}
    </>
  );
}

/** Octets as a few digits with a prefix. */
function octets(n: number): string {
  if (n < 1e3) return `${n} B`;
  return n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}

function Connection({ of }: { of: api.Connection }) {
  const [got, set] = useState<{ frame: Frame; discoveries: number[] } | string | null>(null);
  const run = state.runName.value, end = state.end.value;
  useEffect(() => {
    let current = true;
    set(null);
    if (run !== null) {
      Promise.all([api.connection(run, of), searches(run, of.node, 0, end + 1)]).then(
        ([frame, discoveries]) => { if (current) set({ frame, discoveries }); },
        (e: unknown) => { if (current) set(e instanceof Error ? e.message : String(e)); },
      );
    }
    return () => { current = false; };
  }, [run, of]);
  const frame = got !== null && typeof got !== "string" ? got.frame : null;
  const s = useMemo(() => (frame ? looked(frame) : null), [frame]);
  if (typeof got === "string") return <p class="wrong" role="alert">⚠ {got}</p>;
  if (!got || !frame || !s) return <p class="note" role="status">Reading …</p>;
  const data = [s.sent.map((p) => p[0]), s.sent.map((p) => p[1] / 1000)];
  return (
    <>
      <Plot label={`Time-sequence plot of the connection from ${of.local}:${of.local_port} to ${of.remote}:${of.remote_port}: ${octets(of.sent)} sent, ${of.retransmissions} segments retransmitted, ${got.discoveries.length} route discoveries by the node`}
        height={260} unit="kB" lines={[{ label: "bytes", colour: "" }]} data={data} y={visible(data[0], data[1], shown.value)} draw={(u) => paint(u, s, got.discoveries)} />
      <p class="note">▪ sent ({octets(of.sent)})   — acknowledged   ✕ sent again since the last look (segments in all: {of.retransmissions})   ▼ the node looks for a route ({got.discoveries.length})</p>
      {frame.head["is_whole"] === false && <p class="note">Only the first {frame.head.rows} samples; get all of them with <code>wayhop export csv RUN connections</code>.</p>}
    </>
  );
}

/** What can be drawn: a flow of the scenario's, or an end of a program's connection. */
type Choice = { key: string; label: string; flow: api.Flow } | { key: string; label: string; connection: api.Connection };

/** Whether the table tcp has a flow's segments: not those of programs, whose connections are looked at instead. */
export const hasSegments = (f: api.Flow): boolean => f.kind === "tcp" && f.protocol === undefined;

export function Tcp() {
  const flows = (state.info.value?.flows ?? []).filter(hasSegments);
  const run = state.runName.value, rows = state.info.value?.connections ?? 0;
  const [listed, list] = useState<{ connections: api.Connection[]; left_out: number } | string | null>(null);
  const [key, choose] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    list(null);
    if (run !== null && rows > 0) {
      api.connections(run).then((l) => { if (current) list(l); }, (e: unknown) => { if (current) list(e instanceof Error ? e.message : String(e)); });
    }
    return () => { current = false; };
  }, [run, rows]);
  const ofPrograms = listed !== null && typeof listed !== "string" ? listed.connections : [];
  const choices: Choice[] = [
    ...flows.map((flow) => ({ key: `flow ${flow.id}`, label: `${flow.id}: ${endsInWords(flow, state.nameOf)}`, flow })),
    ...ofPrograms.map((c) => ({
      key: `${c.node} ${c.local} ${c.local_port} ${c.remote} ${c.remote_port}`,
      label: `${state.nameOf(c.node)}: ${c.local}:${c.local_port} → ${c.remote}:${c.remote_port}, sent ${octets(c.sent)}`,
      connection: c,
    })),
  ];
  const chosen = choices.find((c) => c.key === key) ?? choices[0];
  const wrong = typeof listed === "string" && <p class="wrong" role="alert">⚠ {listed}</p>;
  if (chosen === undefined) return wrong || <p class="note" role="status">{rows > 0 ? "Reading …" : "The run has no TCP flow."}</p>;
  return (
    <>
      {wrong}
      <p class="chart-bar"><label class="wraps">{ofPrograms.length > 0 ? "Flow or connection" : "Flow"}{" "}
        <select value={chosen.key} onChange={(e) => choose(e.currentTarget.value)}>
          {choices.map((c) => <option key={c.key} value={c.key}>{c.label}</option>)}
        </select>
      </label></p>
      {listed !== null && typeof listed !== "string" && listed.left_out > 0 && <p class="note">{listed.left_out} smaller connections are not listed.</p>}
      {"flow" in chosen ? <Flow key={chosen.key} flow={chosen.flow} /> : <Connection key={chosen.key} of={chosen.connection} />}
    </>
  );
}
