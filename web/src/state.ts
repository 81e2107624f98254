// What the page knows, and how it changes.

import { batch, computed, signal } from "@preact/signals";
import { parseAddress, showAddress } from "./address";
import * as api from "./api";
import { type Camera, fit } from "./camera";
import { advance } from "./clock";
import type { Frame } from "./frame";
import type { LiveRun } from "./live/run";
import { bounds, Motion } from "./motion";
import { type Hop, Stretch, Stretches } from "./packets";

const start = parseAddress(location.search);

export const runs = signal<api.RunName[]>([]);
export const runName = signal<string | null>(start.run);
export const info = signal<api.RunInfo | null>(null);
/** What went wrong, newest last; each names file and remedy. */
export const problems = signal<string[]>([]);
export const t = signal(start.t);
export const speed = signal(start.speed);
export const playing = signal(false);
export const camera = signal<Camera | null>(start.camera);
export const selected = signal<number | null>(start.node);
/** Counts over the run, of the selected node or of all. */
export const counts = signal<Frame | null>(null);
export const totals = signal<Frame | null>(null);
/** Goes up when data came in: pictures that lacked it are drawn again. */
export const arrivals = signal(0);
export const mapSize = signal({ width: 0, height: 0 });
/** The run under way that is shown, if one is. */
export const live = signal<LiveRun | null>(null);
/** Whether the map shows what happens now. */
export const following = signal(false);
const liveEnd = signal(0);
export const end = computed(() => (live.value ? liveEnd.value : info.value?.end_ns ?? 0));

let motion: Motion | LiveRun | null = null;
let box: [number, number, number, number] = [0, 0, 100, 100];
export let stretches: Stretches | null = null;
let loadingMotion = false;

export function complain(e: unknown): void {
  const text = e instanceof Error ? e.message : String(e);
  if (!problems.value.includes(text)) problems.value = [...problems.value, text].slice(-5);
}

export const nameOf = (node: number): string => info.value?.names[node] ?? String(node);

export async function begin(): Promise<void> {
  try {
    runs.value = await api.listRuns();
    const wanted = runs.value.find((r) => r.name === runName.value)?.name;
    if (runName.value !== null && !wanted) complain(`There is no run ${runName.value} here; choose one of the list`);
    const first = wanted ?? (runs.value.length === 1 ? runs.value[0].name : null);
    if (first) await open(first, wanted !== undefined);
    else runName.value = null;
  } catch (e) {
    complain(e);
  }
}

/** Asks again which runs there are. */
export async function reload(): Promise<void> {
  runs.value = await api.listRuns();
}

/** Opens a run; what the address said of the view stays if it is about this run. */
export async function open(name: string, keepView = false): Promise<void> {
  batch(() => {
    runName.value = name;
    info.value = null;
    playing.value = false;
    problems.value = [];
    counts.value = totals.value = null;
    if (!keepView) { t.value = 0; camera.value = null; selected.value = null; }
    live.value = null;
    following.value = false;
  });
  motion = null;
  stretches = null;
  try {
    const got = await api.openRun(name);
    if (runName.value !== name) return;
    // A stretch holds some 20,000 rows on average.
    const width = Math.min(got.end_ns + 1, Math.max(1e6, Math.ceil((got.end_ns * 20_000) / Math.max(got.rows, 1))));
    stretches = new Stretches((from, to) => loadPackets(name, from, to), got.end_ns, width, () => { arrivals.value += 1; });
    batch(() => {
      info.value = got;
      problems.value = got.problems;
      t.value = Math.min(t.value, got.end_ns);
      if (selected.value !== null && selected.value >= got.nodes) selected.value = null;
    });
    await loadMotion(t.value);
    void loadCounts();
  } catch (e) {
    complain(e);
  }
}

/** Shows a run under way, as it goes on. */
export function showLive(name: string, run: LiveRun, about: api.RunInfo): void {
  const isAnew = live.value !== null && runName.value === name;
  motion = run;
  stretches = run.packets;
  batch(() => {
    liveEnd.value = t.value = 0;
    runName.value = name;
    info.value = about;
    counts.value = totals.value = null;
    live.value = run;
    following.value = true;
    playing.value = false;
    speed.value = 1;
    if (!isAnew) { camera.value = null; problems.value = []; }
    if (selected.value !== null && selected.value >= about.nodes) selected.value = null;
  });
}

/** Shows all of a run under way once it is known where its nodes are. */
export function fitOnce(): void {
  if (!camera.value) fitAll();
}

export function stopFollowing(): void {
  following.value = false;
}

async function loadPackets(name: string, from: number, to: number): Promise<Stretch> {
  try {
    return new Stretch(await api.packets(name, from, to));
  } catch (e) {
    complain(e);
    // An empty one, so that the same question is not asked with each picture.
    const none = { head: { rows: 0, from_ns: from, until_ns: to, events: [], classes: [], reasons: [] }, columns: { time_ns: new Float64Array() } };
    return new Stretch(none);
  }
}

async function loadMotion(at: number): Promise<void> {
  if (loadingMotion || !info.value || runName.value === null) return;
  loadingMotion = true;
  try {
    const isFirst = motion === null;
    const name = runName.value;
    const frame = await api.positions(name, isFirst && at === 0 ? 0 : at, end.value + 1);
    if (name !== runName.value) return;
    motion = new Motion(frame, info.value.nodes);
    if (isFirst) {
      box = bounds(motion, frame, end.value);
      if (!camera.value) fitAll();
    }
    arrivals.value += 1;
  } catch (e) {
    complain(e);
  } finally {
    loadingMotion = false;
  }
}

/** The motion that holds at a moment, if it is at hand. */
export function motionAt(moment: number): Motion | LiveRun | null {
  if (motion && !live.value && !motion.covers(moment)) void loadMotion(Math.max(0, moment));
  return motion;
}

export function fitAll(): void {
  const { width, height } = mapSize.value;
  const now = live.value ? live.value.bounds() : box;
  if (motion && now && width > 0) camera.value = fit(now, width, height);
}

/** Counts grow while the server reads the run; the page asks until they are whole. */
export async function loadCounts(): Promise<void> {
  const name = runName.value, node = selected.value;
  if (live.value || name === null || !info.value || info.value.rows === 0) return;
  try {
    for (;;) {
      const got = await api.overview(name, node);
      if (name !== runName.value || node !== selected.value) return;
      const whole = (got.head["done"] as number) >= (got.head["groups"] as number);
      batch(() => {
        counts.value = got;
        if (node === null) totals.value = got;
      });
      if (!totals.value) totals.value = await api.overview(name, null);
      if (whole) return;
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
  } catch (e) {
    complain(e);
  }
}

export function select(node: number | null): void {
  selected.value = node;
  void loadCounts();
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
  const view = { run: runName.value, t: t.value, speed: speed.value, camera: camera.value, node: selected.value };
  const text = showAddress(view);
  if (text !== location.search) history.replaceState(null, "", text);
}
