// The map that is drawn on: nodes, trajectories with waypoints, and predicted links.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { toGround, toScreen, zoomAt } from "../camera";
import { DARK, draw, LIGHT, type Theme } from "../draw";
import { pairsInRange } from "../links";
import { NO_MARKS } from "../marks";
import { night } from "../night";
import * as doc from "./document";
import { controlMoved, controls, ground, marks, picture, showsControls } from "./ground";
import { opened, open } from "./entries";
import { wire } from "./interfaces";
import { cm, inDegrees, inside, knotsOf, linksAt, type NodeTrack, type Operation, type Place, shifted, type View, withKnot } from "./model";
import { lines, signs, states, wireAt, wires } from "./overlay";

export type Tool = "select" | "lasso" | "node" | "way" | "wire";
export const tool = signal<Tool>("select");
/** The speed to the next waypoint, m/s. */
export const speed = signal(5);
const lasso = signal<[number, number][]>([]);
/** A wire that is being drawn: from where to where on the screen. */
const cable = signal<[[number, number], [number, number]] | null>(null);
const REACH_PX = 14;
/** Waypoints of as many chosen nodes are drawn. */
const MOST_WAYS = 200;

type Grip = { kind: "knot"; node: number; knot: number } | { kind: "nodes"; nodes: number[] } | { kind: "map" } | { kind: "lasso" } | { kind: "wire"; from: number } | { kind: "control"; point: number };

function places(): { xs: Float64Array; ys: Float64Array; zs: Float64Array } {
  const count = doc.drawn.value?.names.length ?? 0;
  const [xs, ys, zs] = [0, 1, 2].map(() => new Float64Array(count).fill(NaN));
  for (let n = 0; n < count; n += 1) {
    const at = doc.placeOf(n);
    if (at) { xs[n] = at.x; ys[n] = at.y; zs[n] = at.z; }
  }
  return { xs, ys, zs };
}

/** Where a node is on the screen. */
function nodePlace(node: number): [number, number] | null {
  const at = doc.placeOf(node), { width, height } = doc.size.value;
  return at && doc.camera.value ? toScreen(doc.camera.value, width, height, at.x, at.y) : null;
}
const cables = () => lines(doc.view.value.tree, doc.drawn.value?.names ?? [], doc.seconds.value, nodePlace);
const chosenWire = (): number | null => { const m = opened.value?.match(/^wires\[(\d+)\]/); return m ? Number(m[1]) : null; };

function paint(canvas: HTMLCanvasElement): void {
  const g = canvas.getContext("2d"), camera = doc.camera.value;
  const { width, height } = doc.size.value;
  if (!g || !camera || width === 0) return;
  const theme = night.value ? DARK : LIGHT;
  const { xs, ys, zs } = places();
  const d = doc.drawn.value, links = d?.geometry.links;
  const dpr = canvas.width / width;
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  const at = (x: number, y: number) => toScreen(camera, width, height, x, y);
  const moving = (d?.names ?? []).map((_, n) => n).slice(0, MOST_WAYS);
  draw(g, {
    camera, width, height, theme, xs, ys, names: doc.nodeName, selected: null,
    links: (links ? linksAt(links, doc.seconds.value) : null) ?? (d?.range_m ? pairsInRange(xs, ys, zs, d.range_m) : []),
    marks: NO_MARKS,
    below: () => {
      ground(g, theme, camera, at);
      for (const n of moving) way(g, theme, n, at);
      wires(g, theme, cables(), chosenWire());
    },
  });
  marks(g, theme, at);
  signs(g, theme, states(d, doc.seconds.value), nodePlace);
  if (cable.value) {
    const [a, b] = cable.value;
    g.lineWidth = 3; g.strokeStyle = theme.ink; g.beginPath(); g.moveTo(...a); g.lineTo(...b); g.stroke();
  }
  for (const n of doc.chosen.value) knots(g, theme, n, at);
  for (const n of doc.chosen.value) {
    const [x, y] = at(xs[n], ys[n]);
    g.strokeStyle = theme.ink; g.lineWidth = 2.5;
    g.beginPath(); g.arc(x, y, 9.5, 0, 2 * Math.PI); g.stroke();
    if (doc.chosen.value.length === 1 && d?.range_m) {
      g.setLineDash([2, 5]); g.lineWidth = 1; g.strokeStyle = theme.faint;
      g.beginPath(); g.arc(x, y, d.range_m * camera.scale, 0, 2 * Math.PI); g.stroke(); g.setLineDash([]);
    }
  }
  if (lasso.value.length > 1) {
    g.setLineDash([5, 4]); g.lineWidth = 1.5; g.strokeStyle = theme.ink;
    g.beginPath(); lasso.value.forEach(([x, y]) => g.lineTo(x, y)); g.closePath(); g.stroke(); g.setLineDash([]);
  }
}

/** Where a node goes whose way is not in the text: from leg to leg. */
function legsOf(node: number): Place[] {
  const d = doc.drawn.value;
  if (!d || !doc.chosen.value.includes(node)) return [];
  const { legs } = d, points: Place[] = [];
  for (let i = legs.node.indexOf(node); i >= 0 && legs.node[i] === node; i += 1) points.push({ x: legs.x[i], y: legs.y[i] });
  return [...points, doc.placeOf(node, d.duration_s) ?? []].flat();
}

/** The waypoints of a trajectory that the text has in metres; null if there are none. */
function ownKnots(node: number, of: View): Place[] | null {
  const track = doc.track(node, of);
  return track && track.waypoints?.length && !inDegrees(of.tree ?? {}, node) ? knotsOf(track) : null;
}

/** A trajectory: dashed, and thicker if the node is chosen. */
function way(g: CanvasRenderingContext2D, theme: Theme, node: number, at: (x: number, y: number) => [number, number]): void {
  const places = (doc.drawable.value ? ownKnots(node, doc.shown.value) : null) ?? legsOf(node);
  if (places.length < 2) return;
  const isChosen = doc.chosen.value.includes(node);
  const points = places.map((p) => at(p.x, p.y));
  g.strokeStyle = isChosen ? theme.route : theme.faint;
  g.lineWidth = isChosen ? 2 : 1;
  g.setLineDash([6, 4]);
  g.beginPath(); points.forEach(([x, y]) => g.lineTo(x, y)); g.stroke();
  g.setLineDash([]);
}

/** A square at each waypoint that can be dragged. */
function knots(g: CanvasRenderingContext2D, theme: Theme, node: number, at: (x: number, y: number) => [number, number]): void {
  ownKnots(node, doc.shown.value)?.map((p) => at(p.x, p.y)).forEach(([x, y], k) => {
    g.fillStyle = theme.ground; g.strokeStyle = theme.route; g.lineWidth = 2;
    g.beginPath(); g.rect(x - 5, y - 5, 10, 10); g.fill(); g.stroke();
    if (k === 0) return;
    g.font = "11px system-ui, sans-serif"; g.textBaseline = "middle"; g.lineWidth = 3;
    g.strokeStyle = theme.ground; g.fillStyle = theme.ink;
    // A bare number would be read as a node's.
    g.strokeText(`waypoint ${k}`, x + 9, y + 9); g.fillText(`waypoint ${k}`, x + 9, y + 9);
  });
}

function knotAt(x: number, y: number): { node: number; knot: number } | null {
  const { width, height } = doc.size.value, camera = doc.camera.value!;
  for (const node of doc.chosen.value.slice(0, MOST_WAYS)) {
    const knots = ownKnots(node, doc.view.value) ?? [];
    for (let knot = knots.length - 1; knot >= 0; knot -= 1) {
      const [sx, sy] = toScreen(camera, width, height, knots[knot].x, knots[knot].y);
      if (Math.hypot(sx - x, sy - y) <= REACH_PX) return { node, knot };
    }
  }
  return null;
}

/** The control point of the background picture at a place of the screen. */
function controlAt(x: number, y: number): number | null {
  if (!showsControls.value || !picture.value || !controls.value) return null;
  const { width, height } = doc.size.value;
  const near = controls.value.findIndex((c) => { const [sx, sy] = toScreen(doc.camera.value!, width, height, ...c.at); return Math.hypot(sx - x, sy - y) <= REACH_PX; });
  return near < 0 ? null : near;
}

function nodeAt(x: number, y: number): number | null {
  const { width, height } = doc.size.value, camera = doc.camera.value!;
  const { xs, ys } = places();
  let best: number | null = null, nearest = REACH_PX;
  for (let n = 0; n < xs.length; n += 1) {
    const [sx, sy] = toScreen(camera, width, height, xs[n], ys[n]);
    const far = Math.hypot(sx - x, sy - y);
    if (far <= nearest) { nearest = far; best = n; }
  }
  return best;
}

/** What dragging so far would do. */
function dragged(grip: Grip, dx: number, dy: number, x: number, y: number): Operation[] {
  if (grip.kind === "knot") {
    const track = doc.track(grip.node);
    return track ? [{ op: "track", node: grip.node, track: withKnot(track, grip.knot, x, y) }] : [];
  }
  if (grip.kind === "control") return controlMoved(grip.point, x, y);
  if (grip.kind !== "nodes") return [];
  return grip.nodes.flatMap((node): Operation[] => {
    const track = doc.track(node);
    return track ? [{ op: "track", node, track: shifted(track, dx, dy) }] : [];
  });
}

function canMove(nodes: number[]): boolean {
  return doc.drawable.value && nodes.every((n) => doc.heldBy(n) === null);
}

export function addKnot(node: number, x: number, y: number): Promise<boolean> {
  const track = doc.track(node), why = doc.heldBy(node);
  if (why !== null) doc.complain(why);
  if (!track || why !== null) return Promise.resolve(false);
  const waypoints = [...(track.waypoints ?? []), { at: { x: cm(x), y: cm(y) }, speed_mps: speed.value }];
  return doc.edit(`Waypoint ${waypoints.length} of node ${doc.nodeName(node)}`, [{ op: "track", node, track: { ...track, waypoints } }]);
}

export async function addNodes(tracks: NodeTrack[], label: string): Promise<void> {
  const before = doc.view.value.drawn?.names.length ?? 0;
  if (await doc.edit(label, [{ op: "add", tracks }])) doc.choose(tracks.map((_, i) => before + i));
}

async function click(x: number, y: number, add: boolean): Promise<void> {
  const { width, height } = doc.size.value;
  const [gx, gy] = toGround(doc.camera.value!, width, height, x, y);
  const [only] = doc.chosen.value;
  if (tool.value === "node") { await addNodes([{ start: { x: cm(gx), y: cm(gy) } }], "Add a node"); return; }
  const found = nodeAt(x, y);
  if (tool.value === "wire" && found !== null && doc.chosen.value.length === 1 && only !== found) { wire([only, found]); return; }
  if (tool.value === "way" && doc.chosen.value.length === 1 && found === null) { await addKnot(only, gx, gy); return; }
  const cabled = found === null ? wireAt(cables(), x, y) : null;
  if (cabled !== null) { open(["wires", cabled]); return; }
  if (found === null) { if (!add && !knotAt(x, y)) doc.choose([]); return; }
  const had = doc.chosen.value.includes(found);
  doc.choose(add ? (had ? doc.chosen.value.filter((n) => n !== found) : [...doc.chosen.value, found]) : [found]);
}

function grab(x: number, y: number, shift: boolean): Grip {
  if (tool.value === "lasso" || (shift && nodeAt(x, y) === null)) return { kind: "lasso" };
  if (tool.value === "node") return { kind: "map" };
  const point = tool.value === "select" ? controlAt(x, y) : null;
  if (point !== null) return { kind: "control", point };
  if (tool.value === "wire") {
    const from = nodeAt(x, y);
    return from === null ? { kind: "map" } : { kind: "wire", from };
  }
  const knot = knotAt(x, y);
  if (knot && canMove([knot.node])) return { kind: "knot", ...knot };
  const node = nodeAt(x, y);
  const nodes = node === null ? [] : doc.chosen.value.includes(node) ? doc.chosen.value : [node];
  return nodes.length > 0 && canMove(nodes) ? { kind: "nodes", nodes } : { kind: "map" };
}

function usePointer(canvas: { current: HTMLCanvasElement | null }): void {
  useEffect(() => {
    const c = canvas.current!, stop = new AbortController();
    let grip: Grip | null = null, pointer = -1, from = { x: 0, y: 0 }, last = from, isDrag = false;
    const at = (e: MouseEvent) => { const r = c.getBoundingClientRect(); return { x: e.clientX - r.left, y: e.clientY - r.top }; };
    const operations = (now: { x: number; y: number }) => {
      const s = doc.camera.value!.scale, { width, height } = doc.size.value;
      const [gx, gy] = toGround(doc.camera.value!, width, height, now.x, now.y);
      return dragged(grip!, (now.x - from.x) / s, (from.y - now.y) / s, gx, gy);
    };
    const press = (e: PointerEvent) => {
      if (grip || !doc.camera.value || e.button > 0) return;
      from = last = at(e); isDrag = false; pointer = e.pointerId;
      grip = grab(from.x, from.y, e.shiftKey);
      c.setPointerCapture(e.pointerId);
    };
    const move = (e: PointerEvent) => {
      if (!grip || e.pointerId !== pointer) return;
      const now = at(e), view = doc.camera.value!;
      if (!isDrag && Math.hypot(now.x - from.x, now.y - from.y) < 4) return;
      if (!isDrag) { isDrag = true; doc.setDragging(true); if (grip.kind === "lasso") lasso.value = [[from.x, from.y]]; }
      if (grip.kind === "map") doc.camera.value = { ...view, x: view.x - (now.x - last.x) / view.scale, y: view.y + (now.y - last.y) / view.scale };
      else if (grip.kind === "lasso") lasso.value = [...lasso.value, [now.x, now.y]];
      else if (grip.kind === "wire") cable.value = [nodePlace(grip.from) ?? [from.x, from.y], [now.x, now.y]];
      else void doc.preview(operations(now));
      last = now;
    };
    const release = (e: PointerEvent) => {
      if (!grip || e.pointerId !== pointer) return;
      const now = at(e), was = grip;
      doc.setDragging(false);
      if (!isDrag) void click(now.x, now.y, e.shiftKey || e.ctrlKey || e.metaKey);
      else if (was.kind === "lasso") catchNodes(e.shiftKey);
      else if (was.kind === "wire") { const to = nodeAt(now.x, now.y); if (to !== null && to !== was.from) wire([was.from, to]); }
      else if (was.kind !== "map") {
        const what = was.kind === "control" ? `Move control point ${was.point + 1}` : was.kind === "knot" ? `Move waypoint ${was.knot} of node ${doc.nodeName(was.node)}` : `Move ${was.nodes.length === 1 ? `node ${doc.nodeName(was.nodes[0])}` : `${was.nodes.length} nodes`}`;
        void doc.edit(what, operations(now));
        if (was.kind === "nodes" && was.nodes.length === 1) doc.choose(was.nodes);
      }
      grip = null; cable.value = null;
    };
    const cancel = () => { grip = null; lasso.value = []; cable.value = null; doc.setDragging(false); doc.ghost.value = null; };
    const wheel = (e: WheelEvent) => {
      e.preventDefault();
      const { width, height } = doc.size.value, where = at(e);
      if (doc.camera.value) doc.camera.value = zoomAt(doc.camera.value, width, height, where.x, where.y, Math.exp(-e.deltaY * 0.0015));
    };
    const { signal } = stop;
    c.addEventListener("pointerdown", press, { signal });
    c.addEventListener("pointermove", move, { signal });
    c.addEventListener("pointerup", release, { signal });
    c.addEventListener("pointercancel", cancel, { signal });
    c.addEventListener("wheel", wheel, { passive: false, signal });
    // Before the page's own key takes the selection away.
    addEventListener("keydown", (e) => { if (e.key === "Escape" && grip && isDrag) { e.stopPropagation(); cancel(); } }, { capture: true, signal });
    return () => stop.abort();
  }, []);
}

function catchNodes(add: boolean): void {
  const { width, height } = doc.size.value, { xs, ys } = places();
  const caught = [...xs.keys()].filter((n) => inside(lasso.value, ...toScreen(doc.camera.value!, width, height, xs[n], ys[n])));
  lasso.value = [];
  doc.choose(add ? [...new Set([...doc.chosen.value, ...caught])] : caught);
}

export function zoom(factor: number): void {
  const { width, height } = doc.size.value;
  if (doc.camera.value) doc.camera.value = zoomAt(doc.camera.value, width, height, width / 2, height / 2, factor);
}

export function Canvas() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const c = canvas.current!;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = c.parentElement!;
      c.width = Math.round(width * devicePixelRatio);
      c.height = Math.round(height * devicePixelRatio);
      doc.size.value = { width, height };
      if (!doc.camera.value && doc.path.value !== "") doc.fitAll();
    });
    observer.observe(c.parentElement!);
    let asked = 0, shown: unknown[] = [];
    const loop = () => {
      const of = [doc.shown.value, doc.camera.value, doc.size.value, doc.chosen.value, doc.seconds.value, lasso.value, cable.value, opened.value, picture.value, controls.value, showsControls.value, night.value];
      if (of.some((v, i) => v !== shown[i])) { shown = of; paint(c); }
      asked = requestAnimationFrame(loop);
    };
    asked = requestAnimationFrame(loop);
    return () => { observer.disconnect(); cancelAnimationFrame(asked); };
  }, []);
  usePointer(canvas);
  const c = doc.camera.value;
  return (
    <div class={`map tool-${tool.value}${doc.shown.value.isOld ? " old" : ""}`}>
      <canvas ref={canvas} role="img" data-camera={c ? `${c.x},${c.y},${c.scale}` : undefined} aria-label="Map of the nodes and their trajectories; the tables Nodes and Trajectory have the same data" />
      {doc.shown.value.isOld && <p class="title">Last valid state</p>}
      <div class="zoom" role="group" aria-label="Map">
        <button type="button" onClick={() => zoom(1.5)} aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button type="button" onClick={() => zoom(1 / 1.5)} aria-label="Zoom out" title="Zoom out (-)">−</button>
        <button type="button" onClick={doc.fitAll} aria-label="Show all" title="Show all (0)">⤢</button>
      </div>
    </div>
  );
}
