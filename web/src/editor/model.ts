// A scenario's nodes, tracks and flows as the editor has them; nothing here touches the page.

export interface Place { x: number; y: number; z?: number }
export interface Waypoint { at: Place; speed_mps: number; pause_s?: number }
export interface NodeTrack { start: Place; pause_s?: number; waypoints?: Waypoint[] }
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };
export type Step = string | number;

export type Operation =
  | { op: "set"; path: Step[]; value: Json } | { op: "remove"; path: Step[] } | { op: "push"; path: Step[]; value: Json }
  | { op: "track"; node: number; track: NodeTrack } | { op: "add"; tracks: NodeTrack[] } | { op: "delete"; nodes: number[] }
  | { op: "name"; node: number; name: string | null } | { op: "convert" };

export interface Legs { node: number[]; from: number[]; until: (number | null)[]; x: number[]; y: number[]; z: number[]; vx: number[]; vy: number[]; vz: number[] }
/** With their times; or, of a large network, those of the moment `at_s` only. */
export interface Links { a: number[]; b: number[]; up?: number[]; down?: (number | null)[]; at_s?: number }
export interface Hops { src: number; dst: number; steps: [number, number | null][]; unreachable_share: number | null }
export interface Geometry { without?: string; moments?: number; links?: Links; parts?: [number, number][]; hops?: Hops[] }
/** A feature of the scenario's GeoJSON map, in metres. */
export interface Feature { name: string; shape: "point" | "line" | "area"; corners: [number, number][] }
export interface Drawn {
  site: Feature[];
  /** Nodes that stand where the map has a point of their name. */
  on_map: number[];
  name: string; duration_s: number; names: string[]; addresses: string[]; range_m: number | null; protocol: string; profile: string;
  preset: string; legs: Legs; flows: { src: number; dst: number | null; start_s: number; stop_s: number }[]; is_whole: boolean;
  warnings: string[]; geometry: Geometry;
  /** Who is down when, and who attacks when; as the seed has it where times or nodes are drawn. */
  outages: { node: number; from_s: number; until_s: number | null }[]; attackers: { node: number; kind: string; from_s: number; until_s: number | null }[];
}
/** `isOld`: `drawn` is from before the text got its mistake. */
export interface View { tree: Table | null; problem: { message: string; line: number | null; key: string | null } | null; drawn: Drawn | null; isOld?: boolean }

/** To the centimetre: nobody places a node more exactly by hand. */
export const cm = (metres: number): number => Math.round(metres * 100) / 100;

const table = (v: Json | undefined): Table => (v !== null && typeof v === "object" && !Array.isArray(v) ? v : {});
export const list = (v: Json | undefined): Json[] => (Array.isArray(v) ? v : []);
export const member = (v: Json | undefined, key: string): Json | undefined => table(v)[key];

/** Whether nodes can be drawn: the text lists them one by one, or has none yet. */
export function canDraw(tree: Table | null): boolean {
  if (!tree) return false;
  const kind = member(tree["movement"], "kind");
  return tree["movement"] === undefined || kind === "static" || kind === "waypoints";
}

/** Whether the text lists its nodes, and lists none. */
export function hasNoNodes(tree: Table | null): boolean {
  return canDraw(tree) && ["positions", "tracks"].every((k) => list(member(tree!["movement"], k)).length === 0);
}

/** A path as messages write it: `traffic[0].rate_pps`. */
export const named = (path: Step[]): string =>
  path.reduce<string>((text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`), "");

/**
 * Whether operations are the mistake that a scenario without one has after them. A key may ask for others, which are set next; a value that
 * is wrong itself, and nodes that cannot be as they were drawn or named, are not taken.
 */
export const isOwnMistake = (operations: Operation[], after: View): boolean =>
  after.problem !== null && !hasNoNodes(after.tree) &&
  operations.some((o) => (o.op === "set" || o.op === "remove" || o.op === "push" ? named(o.path) === after.problem!.key : true));

/** What is shown of a text with a mistake: the nodes as they were before it. */
export const keeping = (before: View, now: View): View =>
  now.drawn || !now.problem || !before.drawn || hasNoNodes(now.tree) ? now : { ...now, drawn: before.drawn, isOld: true };

/** The track of a node in the text, in metres: `at` is where the simulator has it at first, for places in degrees. */
export function trackOf(tree: Table, node: number, at: Place): NodeTrack {
  const movement = tree["movement"];
  const own = list(member(movement, "tracks"))[node];
  const metres = (p: Json | undefined, otherwise: Place): Place => {
    const [x, y, z] = ["x", "y", "z"].map((k) => member(p, k));
    return typeof x === "number" && typeof y === "number" ? { x, y, ...(typeof z === "number" && z !== 0 ? { z } : {}) } : otherwise;
  };
  const seconds = (v: Json | undefined) => (typeof v === "number" ? v : 0);
  const waypoints = list(member(own, "waypoints")).map((w): Waypoint => ({
    at: metres(member(w, "at"), at), speed_mps: Number(member(w, "speed_mps") ?? 1), pause_s: seconds(member(w, "pause_s")),
  }));
  return { start: { ...at, ...(at.z ? {} : { z: 0 }) }, pause_s: seconds(member(own, "pause_s")), waypoints };
}

/** Whether a track's places are in metres: those in degrees are shown, and not dragged. */
export const inDegrees = (tree: Table, node: number): boolean =>
  list(member(list(member(tree["movement"], "tracks"))[node], "waypoints")).some((w) => typeof member(member(w, "at"), "lat") === "number");

export function shifted(track: NodeTrack, dx: number, dy: number): NodeTrack {
  const by = (p: Place): Place => ({ ...p, x: cm(p.x + dx), y: cm(p.y + dy) });
  return { ...track, start: by(track.start), waypoints: (track.waypoints ?? []).map((w) => ({ ...w, at: by(w.at) })) };
}

/** A track with one of its waypoints elsewhere: 0 is the start, 1 the first waypoint. */
export function withKnot(track: NodeTrack, knot: number, x: number, y: number): NodeTrack {
  const to = { x: cm(x), y: cm(y) };
  if (knot === 0) return { ...track, start: { ...track.start, ...to } };
  return { ...track, waypoints: (track.waypoints ?? []).map((w, k) => (k === knot - 1 ? { ...w, at: { ...w.at, ...to } } : w)) };
}

export const knotsOf = (track: NodeTrack): Place[] => [track.start, ...(track.waypoints ?? []).map((w) => w.at)];

/** When a node comes to each of its waypoints, seconds. */
export function arrivals(track: NodeTrack): number[] {
  let now = track.pause_s ?? 0, at = track.start;
  return (track.waypoints ?? []).map((w) => {
    now += Math.hypot(w.at.x - at.x, w.at.y - at.y, (w.at.z ?? 0) - (at.z ?? 0)) / w.speed_mps;
    const arrival = now;
    at = w.at;
    now += w.pause_s ?? 0;
    return arrival;
  });
}

export interface Generator {
  kind: "grid" | "line" | "random" | "convoy"; count: number; x: number; y: number; spacing: number; width: number; height: number;
  heading: number; speed: number; length: number;
}

/** Nodes that are generated at a time. */
export const MOST_GENERATED = 1000;

/** New nodes; `random` gives numbers from 0 to 1. */
export function generate(g: Generator, random: () => number): NodeTrack[] {
  const at = (x: number, y: number): NodeTrack => ({ start: { x: cm(x), y: cm(y) } });
  const all = Array.from({ length: Math.min(MOST_GENERATED, Math.max(1, Math.round(g.count))) }, (_, i) => i);
  // A heading counts from north, clockwise.
  const east = Math.sin((g.heading * Math.PI) / 180), north = Math.cos((g.heading * Math.PI) / 180);
  switch (g.kind) {
    case "grid": {
      const columns = Math.ceil(Math.sqrt(all.length));
      return all.map((i) => at(g.x + (i % columns) * g.spacing, g.y + Math.floor(i / columns) * g.spacing));
    }
    case "line": return all.map((i) => at(g.x + i * g.spacing * east, g.y + i * g.spacing * north));
    case "random": return all.map(() => at(g.x + random() * g.width, g.y + random() * g.height));
    case "convoy": return all.map((i) => {
      const track = at(g.x - i * g.spacing * east, g.y - i * g.spacing * north);
      const to = { x: cm(track.start.x + g.length * east), y: cm(track.start.y + g.length * north) };
      return { ...track, waypoints: [{ at: to, speed_mps: g.speed }] };
    });
  }
}

/** Whether a point lies in a closed line. */
export function inside(ring: [number, number][], x: number, y: number): boolean {
  let within = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
    const [xi, yi] = ring[i], [xj, yj] = ring[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}

/** The pairs of nodes between which links are up at a moment, one after the other; null if that is not known of this moment. */
export function linksAt(links: Links, seconds: number): number[] | null {
  const pairs: number[] = [], { up, down } = links;
  if (!up || !down) return links.at_s === seconds ? links.a.flatMap((a, i) => [a, links.b[i]]) : null;
  for (let i = 0; i < links.a.length; i += 1) {
    if (up[i] <= seconds && seconds < (down[i] ?? Infinity)) pairs.push(links.a[i], links.b[i]);
  }
  return pairs;
}

/** Flows that movement and range never give a path, as the command line warns of them. */
export function withoutPath(d: Pick<Drawn, "flows" | "geometry" | "range_m">, name: (node: number) => string): string[] {
  const isCut = (src: number, dst: number | null) => d.geometry.hops?.some((h) => src === h.src && dst === h.dst && h.unreachable_share === 1);
  const range = d.range_m === null ? "" : ` with a range of ${Number(d.range_m.toFixed(1))} m`;
  return d.flows.flatMap((f, i) => (f.dst !== null && isCut(f.src, f.dst) ? [`flow ${i} (${name(f.src)} to ${name(f.dst)}): no path ever exists${range}`] : []));
}

/** What holds at a moment, of steps in order of time. */
export function stepAt<T>(steps: [number, T][], seconds: number): T | undefined {
  return steps.findLast(([from]) => from <= seconds)?.[1];
}

/** Texts that were, the text, and texts that were undone; each with what led to it. */
export interface History { past: { text: string; label: string }[]; text: string; future: { text: string; label: string }[] }

const MOST_STEPS = 500;

export const changed = (h: History, text: string, label: string): History =>
  text === h.text ? h : { past: [...h.past, { text: h.text, label }].slice(-MOST_STEPS), text, future: [] };

export function undone(h: History): History {
  const last = h.past.at(-1);
  return last ? { past: h.past.slice(0, -1), text: last.text, future: [{ text: h.text, label: last.label }, ...h.future] } : h;
}

export function redone(h: History): History {
  const [next, ...rest] = h.future;
  return next ? { past: [...h.past, { text: h.text, label: next.label }], text: next.text, future: rest } : h;
}

/** A picture below the map: two of its points, in pixels, and where they are, in metres. */
export interface Control { px: [number, number]; at: [number, number] }

/** Turns, scales and shifts pixels (y down) into metres (y north) so that both points lie where they are. */
export function fromControls(a: Control, b: Control): { a: number; b: number; e: number; f: number } | null {
  // As complex numbers: metres = m * conj(pixels) + c.
  const dx = b.px[0] - a.px[0], dy = -(b.px[1] - a.px[1]), square = dx * dx + dy * dy;
  const ux = b.at[0] - a.at[0], uy = b.at[1] - a.at[1];
  if (square === 0 || (ux === 0 && uy === 0)) return null;
  const re = (ux * dx + uy * dy) / square, im = (uy * dx - ux * dy) / square;
  const [x, y] = [a.px[0], -a.px[1]];
  return { a: re, b: im, e: a.at[0] - (re * x - im * y), f: a.at[1] - (im * x + re * y) };
}

/** Who a new flow joins: the first two nodes that are selected; of one it is the source, and without any the first and the last. */
export function endsOf(chosen: number[], count: number): [number | null, number | null] {
  if (chosen.length === 0) return count < 2 ? [null, null] : [0, count - 1];
  return [chosen[0], chosen[1] ?? null];
}
