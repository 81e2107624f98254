// What the page knows, and how it changes.

import { batch, computed, signal } from "@preact/signals";
import { parseAddress, showAddress } from "./address";
import * as api from "./api";
import { type Box, type Camera, fit } from "./camera";
import { advance } from "./clock";
import { embedded } from "./embedded";
import { untilCounted } from "./counted";
import type { Frame } from "./frame";
import type { LiveRun } from "./live/run";
import type { Motion } from "./motion";
import type { Hop, Stretches } from "./packets";
import { Recorded } from "./recorded";
import { NOWHERE } from "./ring";

const start = parseAddress(location.search);

export const runs = signal<api.RunName[]>([]);
export const sweeps = signal<api.Sweep[]>([]);
/** How many runs are not in the list. */
export const moreRuns = signal(0);
export const runName = signal<string | null>(start.run);
export const info = signal<api.RunInfo | null>(null);
/** What went wrong, newest last; each names file and remedy. */
export const problems = signal<string[]>([]);
export const t = signal(start.t);
export const speed = signal(start.speed);
export const playing = signal(false);
export const camera = signal<Camera | null>(start.camera);
export const selected = signal<number | null>(start.node);
/** The packet whose story is told, by its number in the run. */
export const packet = signal<number | null>(start.packet);
/** Counts over the run, of all nodes and of the selected one; null while there is no answer. */
export const totals = signal<Frame | null>(null);
export const nodeCounts = signal<Frame | null>(null);
export const counts = computed(() => (selected.value === null ? totals.value : nodeCounts.value));
/** Goes up when data came in: pictures that lacked it are drawn again. */
export const arrivals = signal(0);
export const mapSize = signal({ width: 0, height: 0 });
/** The run under way that is shown, if one is. */
export const live = signal<LiveRun | null>(null);
/** Whether the map shows what happens now. */
export const following = signal(false);
/** Whether the server knows more of the run than what is at hand: its tables, stories, frames. */
export const hasTables = computed(() => live.value === null && !embedded);
const liveEnd = signal(0);
export const end = computed(() => (live.value ? liveEnd.value : Math.max(info.value?.end_ns ?? 0, other.value?.info.end_ns ?? 0)));

/** The recorded run that is shown, if one is. */
let recorded: Recorded | null = null;
/** The run that stands beside it, if two are compared. */
export const other = signal<Recorded | null>(null);
export const otherName = signal<string | null>(start.other ?? null);
export let stretches: Stretches | null = null;

export function complain(e: unknown): void {
  const text = e instanceof Error ? e.message : String(e);
  if (!problems.value.includes(text)) problems.value = [...problems.value, text].slice(-5);
}

export const nameOf = (node: number): string => info.value?.names[node] ?? String(node);

/** What a panel about a node is called: a mere number needs a word. */
export const titleOf = (node: number): string => (/^\d+$/.test(nameOf(node)) ? `Node ${nameOf(node)}` : nameOf(node));

export async function begin(): Promise<void> {
  try {
    await reload();
    const wanted = runs.value.find((r) => r.name === runName.value)?.name;
    if (runName.value !== null && !wanted) complain(`There is no run ${runName.value} here; choose one from the list`);
    const first = wanted ?? (runs.value.length === 1 && sweeps.value.length === 0 ? runs.value[0].name : null);
    if (first) {
      await open(first, wanted !== undefined);
      if (otherName.value !== null) await compare(otherName.value);
    }
    else runName.value = null;
  } catch (e) {
    complain(e);
  }
}

/** Asks again which runs there are. */
export async function reload(): Promise<void> {
  const got = await api.listRuns();
  batch(() => { runs.value = got.runs; sweeps.value = got.sweeps; moreRuns.value = got.more; });
}

/** Opens a run; what the address said of the view stays if it is about this run. */
export async function open(name: string, keepView = false): Promise<void> {
  batch(() => {
    runName.value = name;
    info.value = null;
    playing.value = false;
    problems.value = [];
    nodeCounts.value = totals.value = null;
    if (!keepView) { t.value = 0; camera.value = null; selected.value = packet.value = null; }
    live.value = null;
    following.value = false;
  });
  recorded = null;
  stretches = null;
  try {
    const run = await Recorded.open(name, () => { arrivals.value += 1; }, complain);
    if (runName.value !== name) return;
    const got = run.info;
    recorded = run;
    stretches = run.stretches;
    batch(() => {
      info.value = got;
      problems.value = got.problems;
      t.value = Math.min(t.value, got.end_ns);
      if (selected.value !== null && selected.value >= got.nodes) selected.value = null;
    });
    await run.loadMotion(t.value);
    if (recorded === run && !camera.value) fitAll();
    void loadTotals();
    void loadNodeCounts();
  } catch (e) {
    complain(e);
  }
}

/** Puts another recorded run beside the one that is shown, or (null) takes it away. */
export async function compare(name: string | null): Promise<void> {
  otherName.value = name;
  other.value = null;
  if (name === null) { t.value = Math.min(t.value, end.value); return; }
  try {
    if (!runs.value.some((r) => r.name === name)) throw new Error(`There is no run ${name} here to compare with; choose one from the list`);
    const run = await Recorded.open(name, () => { arrivals.value += 1; }, complain);
    await run.loadMotion(t.value);
    if (otherName.value !== name) return;
    other.value = run;
    for (const problem of run.info.problems) complain(problem);
  } catch (e) {
    otherName.value = null;
    complain(e);
  }
}

/** Shows a run under way, as it goes on. */
export function showLive(name: string, run: LiveRun, about: api.RunInfo): void {
  const isAnew = live.value !== null && runName.value === name;
  recorded = null;
  stretches = run.packets;
  batch(() => {
    other.value = otherName.value = null;
    liveEnd.value = t.value = 0;
    runName.value = name;
    info.value = about;
    nodeCounts.value = totals.value = null;
    live.value = run;
    following.value = true;
    playing.value = false;
    speed.value = 1;
    if (!isAnew) { camera.value = null; problems.value = []; }
    if (selected.value !== null && selected.value >= about.nodes) selected.value = null;
  });
}

/** Flows of a run under way that were heard of for the first time. */
export function addFlows(heard: api.Flow[]): void {
  const now = info.value;
  if (!now) return;
  const known = now.flows ?? [], fresh = heard.filter((f) => !known.some((k) => k.id === f.id));
  if (fresh.length > 0) info.value = { ...now, flows: [...known, ...fresh].sort((a, b) => a.id - b.id) };
}

/** Shows all of a run under way, and once more when it is known where its nodes are. */
export function fitOnce(): void {
  if (!camera.value || (wasNowhere && !isNowhere())) fitAll();
}

export function stopFollowing(): void {
  following.value = false;
}

/** The motion that holds at a moment, if it is at hand. */
export function motionAt(moment: number): Motion | LiveRun | null {
  return live.value ?? recorded?.motionAt(moment) ?? null;
}

const around = (a: Box, b: Box): Box => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];

/** The view that shows all, as it was made last, and whether that was without a place of any node. */
let whole: Camera | null = null, wasNowhere = false;

/** Whether the run that is shown knows no place of any node. */
export function isNowhere(): boolean {
  return live.value ? live.value.bounds() === null : recorded?.isNowhere ?? false;
}

export function fitAll(): void {
  const { width, height } = mapSize.value;
  if (width === 0 || !(live.value || recorded?.motion)) return;
  wasNowhere = isNowhere();
  const boxes = live.value ? [live.value.bounds()] : [recorded, other.value].map((r) => (r && !r.isNowhere ? r.box : null));
  const known = boxes.filter((b): b is Box => b !== null);
  const seen = fit(known.length > 0 ? known.reduce(around) : NOWHERE, width - covered, height);
  camera.value = whole = { ...seen, x: seen.x - covered / 2 / seen.scale };
}

/** The width of the legend at the left of the map, pixels. */
let covered = 0;
export function cover(px: number): void {
  const isWhole = camera.value !== null && camera.value === whole;
  covered = px < mapSize.value.width / 3 ? px : 0;
  if (isWhole) fitAll();
}

/** The map has another size: a view of everything still shows everything, a view of a part shows the same part. */
export function resized(width: number, height: number): void {
  const before = mapSize.value.width, seen = camera.value;
  mapSize.value = { width, height };
  if (!seen || seen === whole) fitAll();
  else if (before > 0 && Math.abs(Math.log(width / before)) > 0.5) camera.value = { ...seen, scale: seen.scale * (width / before) };
}

/** Counts grow while the server reads a run without an index; the page asks until they are complete. */
async function loadTotals(): Promise<void> {
  const name = runName.value, of = info.value;
  if (live.value || name === null || !of || of.rows === 0) return;
  try {
    await untilCounted(() => api.overview(name, null), () => info.value === of, (frame) => { totals.value = frame; });
  } catch (e) {
    complain(e);
  }
}

/** The same for the selected node, which no index has. */
async function loadNodeCounts(): Promise<void> {
  const name = runName.value, of = info.value, node = selected.value;
  if (live.value || name === null || !of || of.rows === 0) return;
  nodeCounts.value = null;
  if (node === null) return;
  try {
    await untilCounted(() => api.overview(name, node), () => info.value === of && selected.value === node, (frame) => { nodeCounts.value = frame; });
  } catch (e) {
    complain(e);
  }
}

export function select(node: number | null): void {
  if (node === selected.value) return;
  selected.value = node;
  void loadNodeCounts();
}

/** Has the story of a packet told; a row that names none has no story. */
export function tellPacket(number: number): void {
  packet.value = number < 0 || !hasTables.value ? null : number;
}

export function jump(moment: number): void {
  following.value = live.value !== null && moment >= end.value;
  t.value = Math.min(end.value, Math.max(0, moment));
}

export function togglePlay(): void {
  if (following.value) { following.value = false; return; }
  if (!playing.value && t.value >= end.value) t.value = 0;
  playing.value = !playing.value;
}

/** The time goes on by what passed since the last picture; after a second without one it has waited. */
export function tick(elapsedMs: number): void {
  if (live.value) {
    liveEnd.value = Math.max(liveEnd.value, live.value.edge(performance.now()));
    if (following.value) { t.value = liveEnd.value; return; }
  }
  if (!playing.value) return;
  stretches?.ahead(t.value);
  t.value = advance(t.value, Math.min(elapsedMs, 1000), speed.value, end.value);
  if (t.value >= end.value) { playing.value = false; following.value = live.value !== null; }
}

export async function stepEvent(forward: boolean): Promise<Hop | null> {
  playing.value = following.value = false;
  const hop = await stretches?.step(t.value, forward);
  if (hop) t.value = hop.t;
  return hop ?? null;
}

export function writeAddress(): void {
  const view = { run: runName.value, other: otherName.value ?? undefined, t: t.value, speed: speed.value, camera: camera.value, node: selected.value, packet: packet.value };
  const text = showAddress(view);
  // The address of a report is the report's own.
  if (!embedded && text !== location.search) history.replaceState(null, "", text);
}
