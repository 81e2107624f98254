// The scenario that is edited: its text, what it means, and what can be done with it.

import { batch, computed, effect, signal } from "@preact/signals";
import type { Camera } from "../camera";
import { fit } from "../camera";
import type { Frame } from "../frame";
import * as live from "../live/follow";
import { mode } from "../mode";
import { bounds, Motion } from "../motion";
import * as player from "../state";
import { canDraw, changed, cm, type History, inDegrees, isOwnMistake, keeping, knotsOf, type NodeTrack, type Operation, redone, type Table, trackOf, undone, type View } from "./model";

export interface Forms { scenario: Schema; radio: Section; protocols: Section[]; protocol: string }
export interface Section { name?: string; about?: string; schema: Schema; sets: { name: string; about: string; values: Table }[] }
export interface Schema { description?: string; type?: string | string[]; properties?: Record<string, Schema>; enum?: string[]; default?: unknown; $ref?: string; $defs?: Record<string, Schema>; anyOf?: Schema[]; oneOf?: Schema[]; const?: string; items?: Schema; required?: string[] }

export const path = signal("");
export const history = signal<History>({ past: [], text: "", future: [] });
export const saved = signal<string | null>(null);
export const view = signal<View>({ tree: null, problem: null, drawn: null });
/** While something is dragged: what it would mean. */
export const ghost = signal<View | null>(null);
export const forms = signal<Forms | null>(null);
export const problems = signal<string[]>([]);
/** Said aloud by screen readers. */
export const said = signal("");
export const chosen = signal<number[]>([]);
export const seconds = signal(0);
export const camera = signal<Camera | null>(null);
export const size = signal({ width: 0, height: 0 });
export const running = signal<string | null>(null);
export const conflict = signal(false);
/** Edits that were not taken: their fields show again what the text has. */
export const refusals = signal(0);
let digest: string | null = null;

export const text = computed(() => history.value.text);
export const shown = computed(() => ghost.value ?? view.value);
export const drawn = computed(() => shown.value.drawn);
/** What runs of it are called in the list of runs; null without a scenario that can be drawn. */
export const name = computed(() => view.value.drawn?.name ?? null);
export const isSaved = computed(() => saved.value === text.value);
export const drawable = computed(() => canDraw(view.value.tree));
export const motion = computed(() => {
  const d = drawn.value;
  if (!d) return null;
  const { node, until, ...rest } = d.legs;
  const columns: Frame["columns"] = { node: Int32Array.from(node), until: Float64Array.from(until, (u) => u ?? Infinity) };
  for (const [name, values] of Object.entries(rest)) columns[name] = Float64Array.from(values);
  const frame: Frame = { head: { rows: node.length, from_ns: 0, until_ns: Number.MAX_SAFE_INTEGER }, columns };
  return { frame, motion: new Motion(frame, d.names.length) };
});

export function complain(e: unknown): void {
  const what = e instanceof Error ? e.message : String(e);
  problems.value = [...problems.value.filter((p) => p !== what), what].slice(-4);
}

async function ask<T>(address: string, body?: unknown): Promise<T> {
  const how: RequestInit = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(address, how);
  } catch {
    throw new Error("The studio does not respond, and the last request was not carried out; your text is kept while this page is open. Start the studio again with the same --port, and open the address that it prints");
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

/** A picture that the scenario names, of this machine's files. */
export async function fetchPicture(picture: string): Promise<Blob> {
  const response = await fetch("/api/editor/picture", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ picture }) });
  if (!response.ok) throw new Error((await response.json()).error);
  return response.blob();
}

/** Has a picture copied beside the scenario; null if that is not possible. */
export async function takePicture(file: File): Promise<{ picture: string; width: number; height: number } | null> {
  try {
    if (file.size > MOST_PICTURE) throw new Error(`${file.name} is larger than ${MOST_PICTURE >> 20} MiB; make it smaller, or copy it to the scenario's folder and name it in background.picture`);
    const octets = new Uint8Array(await file.arrayBuffer());
    let text = "";
    for (let i = 0; i < octets.length; i += 1 << 15) text += String.fromCharCode(...octets.subarray(i, i + (1 << 15)));
    return await ask("/api/editor/picture/take", { name: file.name, octets: btoa(text) });
  } catch (e) {
    complain(e);
    return null;
  }
}
const MOST_PICTURE = 8 << 20;

interface Loaded { path: string; text: string; digest: string | null; view: View; forms: Forms }

/** Says whether the studio has a scenario to edit. */
export async function load(): Promise<boolean> {
  const got = await ask<Loaded | null>("/api/editor");
  if (!got) return false;
  digest = got.digest;
  batch(() => {
    path.value = got.path;
    forms.value = got.forms;
    history.value = { past: [], text: got.text, future: [] };
    saved.value = got.digest === null ? null : got.text;
    view.value = got.view;
    conflict.value = false;
    problems.value = [];
  });
  await show(got.text);
  return true;
}

/** Pairs whose hops are shown: of the flows, and of two chosen nodes. */
function pairs(): [number, number][] {
  const found = (view.value.drawn?.flows ?? []).flatMap((f): [number, number][] => (f.dst === null ? [] : [[f.src, f.dst]]));
  if (chosen.value.length === 2) found.unshift([chosen.value[0], chosen.value[1]]);
  return found.filter(([a, b], i) => found.findIndex(([c, d]) => a === c && b === d) === i).slice(0, 20);
}

const meaning = (base: string, operations: Operation[]) =>
  ask<{ text: string; view: View }>("/api/editor/change", { text: base, operations, pairs: pairs(), at_s: seconds.value });

/** Shows what a text means. Whose hops are wanted is known once its flows are: then it is asked for again. */
async function show(of: string): Promise<void> {
  try {
    for (let wanted = ""; text.value === of && wanted !== JSON.stringify(pairs());) {
      wanted = JSON.stringify(pairs());
      const got = await meaning(of, []);
      if (text.value === of) view.value = keeping(view.value, got.view);
    }
  } catch (e) {
    complain(e);
  }
}

/** Of a large network the links are known of one moment: those of the next are asked for once the clock stands still. */
const STANDS_MS = 150;
let asked: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const now = seconds.value, of = view.value.drawn?.geometry.links?.at_s;
  clearTimeout(asked);
  if (of !== undefined && of !== now) asked = setTimeout(() => void inTurn(() => show(text.value)), STANDS_MS);
});

/** Edits come one after the other, each on what the one before has left. */
let queue: Promise<unknown> = Promise.resolve();
const inTurn = <T>(job: () => Promise<T>): Promise<T> => {
  const done = queue.then(job);
  queue = done.catch(() => undefined);
  return done;
};

export const edit = (label: string, operations: Operation[]): Promise<boolean> => inTurn(async () => {
  try {
    const wanted = JSON.stringify(pairs());
    const got = await meaning(text.value, operations);
    if (view.value.problem === null && isOwnMistake(operations, got.view)) throw new Error(`Not applied: ${got.view.problem!.message}`);
    batch(() => {
      history.value = changed(history.value, got.text, label);
      view.value = keeping(view.value, got.view);
      ghost.value = null;
      problems.value = [];
      said.value = label;
      const count = got.view.drawn?.names.length;
      if (count !== undefined) chosen.value = chosen.value.filter((n) => n < count);
    });
    if (JSON.stringify(pairs()) !== wanted) await show(text.value);
    return true;
  } catch (e) {
    ghost.value = null;
    refusals.value += 1;
    complain(e);
    return false;
  }
});

/** The text as somebody has typed it. */
export const retype = (typed: string): Promise<void> => inTurn(async () => {
  history.value = changed(history.value, typed, "Edit the text");
  await show(typed);
});

let asking = false;
let waiting: Operation[] | null = null;

/** Shows what operations would do: one question at a time, the newest next. */
export async function preview(operations: Operation[]): Promise<void> {
  waiting = operations;
  if (asking) return;
  asking = true;
  try {
    while (waiting) {
      const now: Operation[] = waiting;
      waiting = null;
      const got = await meaning(text.value, now);
      if (dragging) ghost.value = keeping(view.value, got.view);
    }
  } catch (e) {
    complain(e);
  } finally {
    asking = false;
  }
}

let dragging = false;
export function setDragging(is: boolean): void {
  dragging = is;
  if (!is) waiting = null;
}

const turn = (to: (h: History) => History, word: string, label: string | undefined): Promise<void> => inTurn(async () => {
  if (label === undefined) return;
  history.value = to(history.value);
  await show(text.value);
  chosen.value = chosen.value.filter((n) => n < (view.value.drawn?.names.length ?? 0));
  // Last: who hears it finds the map as it was, not only the text.
  said.value = `${word}: ${label}`;
});
export const undo = () => turn(undone, "Undone", history.value.past.at(-1)?.label);
export const redo = () => turn(redone, "Redone", history.value.future[0]?.label);

export const save = (over = false): Promise<boolean> => inTurn(async () => {
  const now = text.value;
  try {
    const got = await ask<{ digest: string }>("/api/editor/save", { text: now, digest, over });
    digest = got.digest;
    batch(() => { saved.value = now; conflict.value = false; said.value = `Saved ${path.value}`; problems.value = []; });
    return true;
  } catch (e) {
    conflict.value = (e as { status?: number }).status === 409;
    complain(e);
    return false;
  }
});

interface Running { state: string; run: string; error?: string; pid?: number | null }

/** Ways to run a scenario, in the words of the studio's server. */
export const WAYS: { label: string; how: { world?: string; pace?: number } }[] = [
  { label: "as fast as possible", how: {} },
  ...[1, 10, 100].map((pace) => ({ label: `followed at ${pace}×`, how: { pace } })),
  { label: "as an emulation", how: { world: "emulation" } },
  { label: "in a lab", how: { world: "lab" } },
];
export const way = signal(0);

/** Saves, runs what is saved - following it, if it can be followed - and opens the run when it has ended. */
export async function run(): Promise<void> {
  if (running.value !== null || !(await save())) return;
  try {
    let got = await ask<Running>("/api/editor/run", WAYS[way.value].how);
    running.value = got.run;
    said.value = `Started run ${got.run}`;
    let followed: string | null = null;
    while (got.state === "running") {
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (followed === null && typeof got.pid === "number") {
        followed = await live.followProcess(got.pid);
        if (followed !== null) mode.value = "player";
      }
      got = await ask<Running>("/api/editor/run");
    }
    if (got.state === "failed") throw new Error(got.error ?? "the run failed");
    await player.reload();
    // Who looks at something else meanwhile goes on looking at it.
    if (followed === null || player.runName.value === followed) {
      live.leave();
      await player.open(got.run);
      mode.value = "player";
    }
  } catch (e) {
    complain(e);
  } finally {
    said.value = `Run ${running.value ?? ""} has ended`;
    running.value = null;
  }
}

export const stop = (): Promise<void> => ask<void>("/api/editor/stop", {}).catch(complain);

export async function download(format: string, ending: string): Promise<void> {
  try {
    const got = await ask<{ text: string; warnings: string[] }>("/api/editor/export", { text: text.value, format });
    got.warnings.forEach(complain);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([got.text], { type: "text/plain" }));
    link.download = `${drawn.value?.name ?? "scenario"}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (e) {
    complain(e);
  }
}

/** Where a node is, metres. */
export function placeOf(node: number, at = seconds.value): { x: number; y: number; z: number } | null {
  return motion.value?.motion.at(node, at * 1e9) ?? null;
}

export function track(node: number, of: View = view.value): NodeTrack | null {
  const start = of.drawn && of.tree ? motionStart(of, node) : null;
  return start && of.tree ? trackOf(of.tree, node, start) : null;
}

function motionStart(of: View, node: number): { x: number; y: number; z?: number } | null {
  const legs = of.drawn!.legs, first = legs.node.indexOf(node);
  return first < 0 ? null : { x: legs.x[first], y: legs.y[first], ...(cm(legs.z[first]) !== 0 ? { z: legs.z[first] } : {}) };
}

/** Why the places of a node cannot be changed here; null if they can. */
export function heldBy(node: number): string | null {
  const { tree, drawn: d } = view.value;
  if (d?.on_map.includes(node)) return `The scenario's map has a point named ${nodeName(node)}, where the node is placed: move the point, or rename the node`;
  if (tree && inDegrees(tree, node)) return `The trajectory of ${nodeName(node)} is in degrees: edit it in the text`;
  return null;
}

export function fitAll(): void {
  const { width, height } = size.value, m = motion.value;
  if (width === 0) return;
  const box: [number, number, number, number] = (m && bounds(m.frame, (drawn.value?.duration_s ?? 0) * 1e9)) ?? [0, 0, 1000, 600];
  for (let n = 0; n < Math.min(500, drawn.value?.names.length ?? 0); n += 1) {
    for (const k of knotsOf(track(n) ?? { start: { x: box[0], y: box[1] } })) {
      box[0] = Math.min(box[0], k.x); box[1] = Math.min(box[1], k.y); box[2] = Math.max(box[2], k.x); box[3] = Math.max(box[3], k.y);
    }
  }
  // A single node has no extent; a hundred metres around it are a beginning.
  const pad = Math.max(0, 200 - Math.max(box[2] - box[0], box[3] - box[1])) / 2;
  camera.value = fit([box[0] - pad, box[1] - pad, box[2] + pad, box[3] + pad], width, height);
}

export function choose(nodes: number[]): void {
  chosen.value = nodes;
  if (nodes.length === 2) void inTurn(() => show(text.value));
}

export const nodeName = (n: number): string => drawn.value?.names[n] ?? String(n);
