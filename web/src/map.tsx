// The map: a canvas, its buttons, and what the pointer does on it.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Camera, toGround, toScreen, zoomAt } from "./camera";
import { DARK, draw, lanesOf, LIGHT, lossPlaces, onScreen, type Pen, type Picture } from "./draw";
import { showExport } from "./exporting";
import * as flows from "./flows";
import { MapLegend } from "./legend";
import { pairsInRange } from "./links";
import { canPlace, place } from "./live/follow";
import { heardPairs, type Marks, marksAt, NO_MARKS } from "./marks";
import { night } from "./night";
import type { Hop, Stretches } from "./packets";
import { onRing } from "./ring";
import { stories, wayOf } from "./route";
import * as state from "./state";
import { drawWay } from "./way";

const REACH_PX = 14, LOSS_REACH_PX = 8, FLOW_REACH_PX = 6;
/** A node is dragged, not pressed, from so far on. */
const DRAG_PX = 4;
/** The node of a run under way that is dragged, and where to. */
const dragged = signal<{ node: number; x: number; y: number } | null>(null);

/** What a map shows: the run, or the one beside it. */
interface Shown { nodes: number; range: number | null; motion: Course | null; isNowhere: boolean; stretches: Stretches | null; name: (n: number) => string }
type Course = NonNullable<ReturnType<typeof state.motionAt>>;

function shownOf(which: "own" | "other", t: number): Shown {
  const beside = state.other.value;
  if (which === "other" && beside) {
    const { info, stretches } = beside;
    return { nodes: info.nodes, range: info.range_m, motion: beside.motionAt(t), isNowhere: beside.isNowhere, stretches, name: (n) => info.names[n] ?? String(n) };
  }
  const name = (n: number) => (state.live.value?.up[n] === false ? `${state.nameOf(n)} (down)` : state.nameOf(n));
  return { nodes: state.info.value?.nodes ?? 0, range: state.info.value?.range_m ?? null, motion: state.motionAt(t), isNowhere: state.isNowhere(), stretches: state.stretches, name };
}

/** Places of all nodes at a moment; NaN where the run does not say. */
export function places(t: number, shown = shownOf("own", t)): { xs: Float64Array; ys: Float64Array; zs: Float64Array } {
  const count = shown.nodes;
  const [xs, ys, zs] = [0, 1, 2].map(() => new Float64Array(count).fill(NaN));
  shown.motion?.fill(t, xs, ys, zs);
  return { xs, ys, zs };
}

/** Where nodes are drawn: in their places, or in a ring if no place of any is known. */
function drawn(camera: Camera, t: number, shown: Shown, { width, height } = state.mapSize.value): { xs: Float64Array; ys: Float64Array; zs: Float64Array } {
  const at = places(t, shown);
  if (shown.isNowhere) onRing(at.xs, at.ys, camera, width, height);
  return at;
}

function paint(canvas: HTMLCanvasElement, which: "own" | "other"): void {
  const g = canvas.getContext("2d");
  const camera = state.camera.value;
  const { width, height } = state.mapSize.value;
  if (!g || !camera || width === 0) return;
  const dpr = canvas.width / width;
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  draw(g, pictureOf(which, state.t.value, camera, { width, height }, g));
  const view = [camera.x, camera.y, camera.scale].join(",");
  if (canvas.dataset.camera !== view) canvas.dataset.camera = view;
}

const marksOf = (shown: Shown, t: number, speed = state.speed.value): Marks => (shown.stretches ? marksAt(shown.stretches, t, speed) : NO_MARKS);

/** What the map shows at a moment, of any size. */
export function pictureOf(which: "own" | "other", t: number, camera: Camera, size: { width: number; height: number }, g: Pen, speed = state.speed.value): Picture {
  const shown = shownOf(which, t), theme = night.value ? DARK : LIGHT;
  const { xs, ys, zs } = drawn(camera, t, shown, size), isRing = shown.isNowhere;
  // Stories are of the run itself; the one beside it has other packets.
  const ways = which === "own" ? stories.value.map(wayOf) : [];
  return {
    camera, ...size, theme, xs, ys, isRing,
    names: shown.name,
    links: shown.range !== null && !isRing ? pairsInRange(xs, ys, zs, shown.range) : shown.stretches ? heardPairs(shown.stretches, t) : [],
    marks: marksOf(shown, t, speed),
    flows: { chosen: flows.chosen.value, hidden: flows.hidden.value, rates: flows.ratesShown.value },
    above: ways.length === 0 ? undefined : (sx, sy) => { for (const way of ways) drawWay(g, theme, way, t, sx, sy); },
    selected: state.selected.value, goal: dragged.value,
  };
}

/** The node at a pixel; of several that lie there, the one after the selected one. */
function nodeAt(camera: Camera, x: number, y: number, which: "own" | "other"): number | null {
  const { width, height } = state.mapSize.value;
  const { xs, ys } = drawn(camera, state.t.value, shownOf(which, state.t.value));
  const near: number[] = [];
  for (let n = 0; n < xs.length; n += 1) {
    const [sx, sy] = toScreen(camera, width, height, xs[n], ys[n]);
    if (Math.hypot(sx - x, sy - y) <= REACH_PX) near.push(n);
  }
  if (near.length === 0) return null;
  return near[(near.indexOf(state.selected.value ?? -1) + 1) % near.length];
}

/** The loss whose sign is at a pixel. */
function lossAt(camera: Camera, x: number, y: number, which: "own" | "other"): Hop | null {
  const shown = shownOf(which, state.t.value);
  if (!shown.stretches) return null;
  const { width, height } = state.mapSize.value;
  const { xs, ys } = drawn(camera, state.t.value, shown);
  for (const { hop, dx, dy } of lossPlaces(marksAt(shown.stretches, state.t.value, state.speed.value).losses)) {
    const [sx, sy] = toScreen(camera, width, height, xs[hop.node], ys[hop.node]);
    if (Math.hypot(sx + dx - x, sy + dy - y) <= LOSS_REACH_PX) return hop;
  }
  return null;
}

/** The flow whose line is nearest to a pixel; of several, the next after the one that stands out. */
function flowAt(camera: Camera, x: number, y: number, which: "own" | "other"): number | null {
  const shown = shownOf(which, state.t.value), { xs, ys } = drawn(camera, state.t.value, shown);
  const [sx, sy] = onScreen({ camera, ...state.mapSize.value, xs, ys });
  const near = lanesOf({ marks: marksOf(shown, state.t.value), flows: { chosen: null, hidden: flows.hidden.value, rates: false } })
    .filter((lane) => lane.route.flow >= 0).map((lane) => ({ flow: lane.route.flow, d: flows.distance(x, y, flows.placed(lane, sx, sy)) }));
  return near.filter((l) => l.d <= FLOW_REACH_PX).sort((a, b) => a.d - b.d)[0]?.flow ?? null;
}

function click(camera: Camera, x: number, y: number, which: "own" | "other"): void {
  const loss = lossAt(camera, x, y, which);
  if (!loss) {
    const node = nodeAt(camera, x, y, which), flow = node === null ? flowAt(camera, x, y, which) : null;
    if (flow === null) state.select(node);
    // Once more on the flow that stands out, or beside everything, and all are as before.
    if (node === null) flows.chosen.value = flow === flows.chosen.value ? null : flow;
    return;
  }
  state.playing.value = false;
  state.jump(loss.t);
  state.select(loss.node);
  // Stories are of the run itself; the one beside it has other packets.
  if (which === "own") state.tellPacket(loss.packet);
}

export function zoom(factor: number): void {
  const { width, height } = state.mapSize.value;
  if (state.camera.value) state.camera.value = zoomAt(state.camera.value, width, height, width / 2, height / 2, factor);
}

export function pan(dx: number, dy: number): void {
  const c = state.camera.value;
  if (c) state.camera.value = { ...c, x: c.x + dx / c.scale, y: c.y + dy / c.scale };
}

/** Draws when something has changed, once a picture of the screen. */
function useFrames(canvas: { current: HTMLCanvasElement | null }, which: "own" | "other"): void {
  useEffect(() => {
    let last = performance.now(), asked = 0, shown: unknown[] = [];
    const loop = (now: number) => {
      // One of the maps moves the clock of both.
      if (which === "own") state.tick(now - last);
      last = now;
      const of = [state.t.value, state.camera.value, state.selected.value, state.arrivals.value,
        state.mapSize.value, state.info.value, night.value, state.speed.value, dragged.value, state.other.value, flows.chosen.value, flows.hidden.value, flows.ratesShown.value, stories.value];
      if (canvas.current && of.some((v, i) => v !== shown[i])) { shown = of; paint(canvas.current, which); }
      asked = requestAnimationFrame(loop);
    };
    asked = requestAnimationFrame(loop);
    return () => cancelAnimationFrame(asked);
  }, []);
}

function usePointer(canvas: { current: HTMLCanvasElement | null }, which: "own" | "other"): void {
  useEffect(() => {
    const c = canvas.current!;
    const down = new Map<number, { x: number; y: number }>();
    let moved = 0;
    const at = (e: MouseEvent) => { const r = c.getBoundingClientRect(); return { x: e.clientX - r.left, y: e.clientY - r.top }; };
    let held: number | null = null;
    const press = (e: PointerEvent) => {
      const where = at(e);
      down.set(e.pointerId, where);
      moved = 0;
      // Nodes of a run under way can be taken along while the map shows where they are now.
      const follows = state.live.value !== null && state.following.value && canPlace();
      held = follows && down.size === 1 && state.camera.value ? nodeAt(state.camera.value, where.x, where.y, which) : null;
      c.setPointerCapture(e.pointerId);
    };
    const move = (e: PointerEvent) => {
      const before = down.get(e.pointerId), now = at(e), view = state.camera.value;
      if (!before || !view) return;
      const other = [...down].find(([id]) => id !== e.pointerId)?.[1];
      moved += Math.hypot(now.x - before.x, now.y - before.y);
      if (held !== null) {
        down.set(e.pointerId, now);
        if (moved < DRAG_PX) return;
        const { width, height } = state.mapSize.value;
        const [x, y] = toGround(view, width, height, now.x, now.y);
        dragged.value = { node: held, x, y };
        void place(held, x, y);
        return;
      }
      if (other) {
        const { width, height } = state.mapSize.value;
        const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
        state.camera.value = zoomAt(view, width, height, other.x, other.y, factor);
      } else {
        state.camera.value = { ...view, x: view.x - (now.x - before.x) / view.scale, y: view.y + (now.y - before.y) / view.scale };
      }
      down.set(e.pointerId, now);
    };
    const release = (e: PointerEvent) => {
      const where = at(e);
      dragged.value = null;
      held = null;
      if (down.delete(e.pointerId) && down.size === 0 && moved < DRAG_PX && state.camera.value) {
        click(state.camera.value, where.x, where.y, which);
      }
    };
    const wheel = (e: WheelEvent) => {
      e.preventDefault();
      const { width, height } = state.mapSize.value, where = at(e);
      if (state.camera.value) state.camera.value = zoomAt(state.camera.value, width, height, where.x, where.y, Math.exp(-e.deltaY * 0.0015));
    };
    const cancel = (e: PointerEvent) => { down.delete(e.pointerId); held = dragged.value = null; };
    c.addEventListener("pointerdown", press);
    c.addEventListener("pointermove", move);
    c.addEventListener("pointerup", release);
    c.addEventListener("pointercancel", cancel);
    c.addEventListener("wheel", wheel, { passive: false });
    // The canvas stays as long as the page.
  }, []);
}

export function Maps() {
  const beside = state.other.value;
  return (
    <div class={beside ? "maps two" : "maps"}>
      <MapView which="own" title={beside ? state.runName.value : null} />
      {beside && <MapView which="other" title={beside.name} />}
    </div>
  );
}

function MapView({ which, title }: { which: "own" | "other"; title: string | null }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const c = canvas.current!;
    const resize = () => {
      const { clientWidth: width, clientHeight: height } = c.parentElement!;
      c.width = Math.round(width * devicePixelRatio);
      c.height = Math.round(height * devicePixelRatio);
      state.resized(width, height);
      // A canvas of another size is empty: without this it would flash.
      paint(c, which);
    };
    const observer = new ResizeObserver(resize);
    observer.observe(c.parentElement!);
    return () => observer.disconnect();
  }, []);
  useFrames(canvas, which);
  usePointer(canvas, which);
  return (
    <div class="map">
      <canvas ref={canvas} role="img" aria-label={`Map of the nodes${title ? ` of ${title}` : ""}; the table Nodes has the same data`} />
      {title && <p class="title">{title}</p>}
      {which === "own" && <MapLegend />}
      <div class="zoom" role="group" aria-label="Map">
        <button type="button" onClick={() => zoom(1.5)} aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button type="button" onClick={() => zoom(1 / 1.5)} aria-label="Zoom out" title="Zoom out (-)">−</button>
        <button type="button" onClick={state.fitAll} aria-label="Show all" title="Show all (0)">⤢</button>
        {which === "own" && <button type="button" onClick={showExport} aria-label="Save as a picture or video" title="Save as a picture or video (S)">⤓</button>}
      </div>
    </div>
  );
}
