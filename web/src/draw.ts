// The map: one picture of a moment.

import { type Camera, roundLength, showLength, toGround, toScreen } from "./camera";
import { causeOf, reasonWords, type Shape } from "./causes";
import { crowd } from "./crowd";
import { type Lane, lanes, placed, rateOf, showRate, styleOf, united } from "./flows";
import type { Loss, Marks } from "./marks";

export interface Theme { ground: string; grid: string; ink: string; faint: string; link: string; node: string; route: string; sending: string; attack: string; lost: string; way: string; isNight: boolean }

/** What draws a picture: a canvas, or a sheet that becomes SVG. */
export type Pen = Pick<CanvasRenderingContext2D, "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "font" | "textBaseline" | "fillRect" | "strokeRect" | "beginPath"
  | "moveTo" | "lineTo" | "arc" | "closePath" | "stroke" | "fill" | "fillText" | "strokeText" | "setLineDash">;

export const LIGHT: Theme = {
  ground: "#ffffff", grid: "#e6e8eb", ink: "#1a1d21", faint: "#5c6570", link: "#aab2bb", node: "#33414f", route: "#0072B2", sending: "#5c6570", attack: "#b34600", lost: "#b34600", way: "#1a1d21", isNight: false,
};
export const DARK: Theme = {
  ground: "#14181d", grid: "#252c34", ink: "#eef1f4", faint: "#a3adb8", link: "#56616d", node: "#c9d3dd", route: "#56B4E9", sending: "#a3adb8", attack: "#ff9a57", lost: "#ff9a57", way: "#eef1f4", isNight: true,
};

export interface Picture {
  camera: Camera; width: number; height: number; theme: Theme;
  xs: Float64Array; ys: Float64Array; names: (node: number) => string;
  links: ArrayLike<number>; marks: Marks; selected: number | null;
  /** No place is known: nodes stand in a ring, and metres mean nothing. */
  isRing?: boolean;
  /** Where a node is being dragged to, metres. */
  goal?: { x: number; y: number } | null;
  /** Draws what lies on the ground, below links and nodes. */
  below?: () => void;
  /** The flow that stands out, those that are not drawn, and whether links have their rates. */
  flows?: { chosen: number | null; hidden: ReadonlySet<number>; rates: boolean };
  /** Draws what lies on the links, below the nodes. */
  above?: (sx: Float64Array, sy: Float64Array) => void;
}

const METRES_PX = 90;
/** Names are drawn while there are no more nodes than these on the screen. */
const MOST_NAMES = 120, MOST_CAUSES = 14, MOST_IN_ROW = 6;
/** Above these numbers of nodes, links and transmissions they are drawn pixel by pixel. */
const MANY = 2_000;

/** More lanes than these are drawn as one for each link, and fewer have their rates. */
const MOST_LANES = 400, MOST_RATES = 80;
/** How much is seen of what does not stand out. */
const FAINT = 0.25;
/** The size of a rate, pixels: one that would lie on another is left out. */
const RATE_WIDTH = 54, RATE_HEIGHT = 13;

/** Where nodes are on the screen. */
export function onScreen(p: Pick<Picture, "camera" | "width" | "height" | "xs" | "ys">): [Float64Array, Float64Array] {
  const sx = new Float64Array(p.xs.length), sy = new Float64Array(p.xs.length);
  const { x, y, scale } = p.camera, middle = p.width / 2, centre = p.height / 2;
  for (let n = 0; n < p.xs.length; n += 1) {
    sx[n] = middle + (p.xs[n] - x) * scale;
    sy[n] = centre - (p.ys[n] - y) * scale;
  }
  return [sx, sy];
}

/** The lanes of a picture: flows beside each other, or one for each link where there are too many. */
export function lanesOf(p: Pick<Picture, "marks" | "flows">): Lane[] {
  const all = lanes(p.marks.routes, (flow) => p.flows?.hidden.has(flow) ?? false);
  return all.length <= MOST_LANES ? all : lanes(united(all.map((l) => l.route)), () => false);
}

export function draw(g: Pen, p: Picture): void {
  const { width, height } = p;
  g.fillStyle = p.theme.ground;
  g.fillRect(0, 0, width, height);
  if (!p.isRing) grid(g, p);
  p.below?.();
  const [sx, sy] = onScreen(p);
  const isCrowd = g instanceof CanvasRenderingContext2D && p.xs.length + p.links.length / 2 + p.marks.sendings.length >= MANY;
  if (isCrowd) drawCrowd(g as CanvasRenderingContext2D, p, sx, sy);
  else links(g, p, sx, sy);
  // Below the flows, which keep their colours; the rings tell who sends.
  sendings(g, p, sx, sy, isCrowd);
  routes(g, p, sx, sy);
  p.above?.(sx, sy);
  nodes(g, p, sx, sy, isCrowd);
  losses(g, p, sx, sy);
  goal(g, p);
  if (!p.marks.isComplete) loading(g, p);
  if (p.isRing) noPlaces(g, p);
  else { scaleBar(g, p); northArrow(g, p); }
}

function grid(g: Pen, p: Picture): void {
  const step = roundLength(METRES_PX / p.camera.scale);
  const [left, top] = toGround(p.camera, p.width, p.height, 0, 0);
  const [right, bottom] = toGround(p.camera, p.width, p.height, p.width, p.height);
  g.strokeStyle = p.theme.grid;
  g.lineWidth = 1;
  g.beginPath();
  for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
    const [sx] = toScreen(p.camera, p.width, p.height, x, 0);
    g.moveTo(Math.round(sx) + 0.5, 0); g.lineTo(Math.round(sx) + 0.5, p.height);
  }
  for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) {
    const [, sy] = toScreen(p.camera, p.width, p.height, 0, y);
    g.moveTo(0, Math.round(sy) + 0.5); g.lineTo(p.width, Math.round(sy) + 0.5);
  }
  g.stroke();
}

function links(g: Pen, p: Picture, sx: Float64Array, sy: Float64Array): void {
  g.strokeStyle = p.theme.link;
  g.lineWidth = 1;
  g.beginPath();
  for (let i = 0; i < p.links.length; i += 2) {
    g.moveTo(sx[p.links[i]], sy[p.links[i]]);
    g.lineTo(sx[p.links[i + 1]], sy[p.links[i + 1]]);
  }
  g.stroke();
}

function routes(g: Pen, p: Picture, sx: Float64Array, sy: Float64Array): void {
  const all = lanesOf(p), chosen = p.flows?.chosen ?? null;
  // Beside coloured flows, what belongs to none is grey.
  const other = all.some(({ route }) => route.flow >= 0) ? p.theme.faint : p.theme.route;
  for (const lane of all) {
    const { flow, packets } = lane.route, [x0, y0, x1, y1] = placed(lane, sx, sy);
    const style = flow < 0 ? { colour: other, dash: [] } : styleOf(flow, p.theme.isNight);
    // Beside the way of a packet, and beside a flow that stands out, others are faint.
    g.globalAlpha = (chosen === null ? p.above !== undefined : flow !== chosen) ? FAINT : 1;
    g.strokeStyle = g.fillStyle = style.colour;
    g.lineWidth = Math.min(7, 2.5 + Math.log2(packets) / 2);
    g.setLineDash(style.dash);
    g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1, y1); g.stroke();
    g.setLineDash([]);
    // The arrow's head lies at two thirds of the way: so those of both directions can be told apart.
    const angle = Math.atan2(y1 - y0, x1 - x0);
    const x = x0 + (x1 - x0) * 0.66, y = y0 + (y1 - y0) * 0.66;
    g.beginPath(); g.moveTo(x + 8 * Math.cos(angle), y + 8 * Math.sin(angle));
    for (const turn of [2.5, -2.5]) g.lineTo(x + 8 * Math.cos(angle + turn), y + 8 * Math.sin(angle + turn));
    g.fill();
  }
  g.globalAlpha = 1;
  if (p.flows?.rates) rates(g, p, all.filter(({ route }) => chosen === null || route.flow === chosen), sx, sy);
}

/** What goes by each link in each direction, beside the lanes; the highest rates first, as far as there is room. */
function rates(g: Pen, p: Picture, all: Lane[], sx: Float64Array, sy: Float64Array): void {
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.lineWidth = 3;
  g.strokeStyle = p.theme.ground;
  g.fillStyle = p.theme.ink;
  const written: [number, number][] = [];
  for (const { node, peer, bytes } of united(all.map((l) => l.route)).sort((a, b) => b.bytes - a.bytes)) {
    const dx = sx[peer] - sx[node], dy = sy[peer] - sy[node], length = Math.hypot(dx, dy) || 1;
    // On the side on which the lanes of this direction lie.
    const x = sx[node] + dx * 0.4 - (dy / length) * 13 - 14, y = sy[node] + dy * 0.4 + (dx / length) * 13;
    if (!Number.isFinite(x + y) || written.some(([u, v]) => Math.abs(u - x) < RATE_WIDTH && Math.abs(v - y) < RATE_HEIGHT)) continue;
    label(g, showRate(rateOf(bytes, p.marks)), x, y);
    if (written.push([x, y]) >= MOST_RATES) break;
  }
}

/** A transmission's ring, growing and fading. */
const ringOf = (age: number) => ({ radius: 7 + 14 * age, alpha: 1 - age });

function drawCrowd(g: CanvasRenderingContext2D, p: Picture, sx: Float64Array, sy: Float64Array): void {
  const { link, node, sending } = p.theme;
  crowd(g, g.canvas.width / p.width, {
    links: p.links, sx, sy, colours: { link, node, ring: sending }, radius: sx.length > 4000 ? 2 : 3,
    rings: p.marks.sendings.map((s) => ({ node: s.node, dashed: s.routing, ...ringOf(s.age) })),
  });
}

function sendings(g: Pen, p: Picture, sx: Float64Array, sy: Float64Array, areDrawn: boolean): void {
  g.strokeStyle = p.theme.sending;
  g.lineWidth = 1.5;
  const chosen = p.flows?.chosen ?? null;
  for (const { node, peer, flow, age, routing } of p.marks.sendings) {
    if ((areDrawn && peer < 0) || p.flows?.hidden.has(flow)) continue;
    const { radius, alpha } = ringOf(age);
    g.globalAlpha = chosen === null || flow === chosen ? alpha : alpha * FAINT;
    g.setLineDash(routing ? [3, 3] : []);
    if (!areDrawn) { g.beginPath(); g.arc(sx[node], sy[node], radius, 0, 2 * Math.PI); g.stroke(); }
    if (peer >= 0) { g.beginPath(); g.moveTo(sx[node], sy[node]); g.lineTo(sx[peer], sy[peer]); g.stroke(); }
  }
  g.globalAlpha = 1;
  g.setLineDash([]);
}

function nodes(g: Pen, p: Picture, sx: Float64Array, sy: Float64Array, areDrawn: boolean): void {
  const seen: number[] = [];
  for (let n = 0; n < sx.length; n += 1) {
    if (sx[n] > -20 && sy[n] > -20 && sx[n] < p.width + 20 && sy[n] < p.height + 20) seen.push(n);
  }
  const r = seen.length > 400 ? 3 : 5;
  g.fillStyle = p.theme.node;
  g.beginPath();
  if (!areDrawn) for (const n of seen) { g.moveTo(sx[n] + r, sy[n]); g.arc(sx[n], sy[n], r, 0, 2 * Math.PI); }
  g.fill();
  if (p.selected !== null && Number.isFinite(sx[p.selected])) {
    g.strokeStyle = p.theme.ink;
    g.lineWidth = 2.5;
    g.strokeRect(sx[p.selected] - 11, sy[p.selected] - 11, 22, 22);
  }
  const named = seen.length <= MOST_NAMES ? seen : seen.filter((n) => n === p.selected);
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.lineWidth = 3;
  g.strokeStyle = p.theme.ground;
  g.fillStyle = p.theme.ink;
  // A name that would lie on another one is left out, the selected node's never.
  const taken = new Set<string>();
  for (const n of [...named.filter((n) => n === p.selected), ...named]) {
    // Beside the frame of a selected node, not below it.
    const x = sx[n] + (n === p.selected ? 16 : 9), y = sy[n] - (n === p.selected ? 12 : 9);
    const cells = [0, 1].map((k) => `${Math.round(x / 20) + k},${Math.round(y / 14)}`);
    if (cells.some((c) => taken.has(c))) continue;
    cells.forEach((c) => taken.add(c));
    label(g, p.names(n), x, y);
  }
}

function label(g: Pen, text: string, x: number, y: number): void {
  g.strokeText(text, x, y);
  g.fillText(text, x, y);
}

/** Where the signs of losses stand, in pixels from their nodes: several at one node in a row, the latest first. */
export function* lossPlaces(list: Loss[]): Generator<Loss & { dx: number; dy: number; place: number }> {
  const at = new Map<number, number>();
  for (const loss of list) {
    const place = at.get(loss.hop.node) ?? 0;
    at.set(loss.hop.node, place + 1);
    if (place < MOST_IN_ROW) yield { ...loss, place, dx: 1 + 13 * place, dy: 14 };
  }
}

function losses(g: Pen, p: Picture, sx: Float64Array, sy: Float64Array): void {
  let told = 0;
  for (const { hop, age, place, dx, dy } of lossPlaces(p.marks.losses)) {
    const cause = causeOf(hop.reason ?? "");
    const x = sx[hop.node] + dx, y = sy[hop.node] + dy;
    g.globalAlpha = Math.max(0.25, 1 - age);
    shape(g, cause.shape, x, y, cause.colour, p.theme.ground);
    g.globalAlpha = 1;
    // The latest of a node has its cause in words.
    if (place === 0 && told < MOST_CAUSES && hop.reason) {
      told += 1;
      g.font = "11px system-ui, sans-serif";
      g.lineWidth = 3;
      g.strokeStyle = p.theme.ground;
      g.fillStyle = p.theme.ink;
      label(g, reasonWords(hop.reason), x - 4, y + 14);
    }
  }
}

function goal(g: Pen, p: Picture): void {
  if (!p.goal) return;
  const [x, y] = toScreen(p.camera, p.width, p.height, p.goal.x, p.goal.y);
  g.strokeStyle = p.theme.ink;
  g.lineWidth = 2;
  g.setLineDash([4, 3]);
  g.beginPath(); g.arc(x, y, 11, 0, 2 * Math.PI); g.stroke();
  g.setLineDash([]);
  g.font = "12px system-ui, sans-serif";
  g.lineWidth = 3;
  g.strokeStyle = p.theme.ground;
  g.fillStyle = p.theme.ink;
  label(g, `${p.goal.x.toFixed(0)} m, ${p.goal.y.toFixed(0)} m`, x + 15, y);
}

export function shape(g: Pen, kind: Shape, x: number, y: number, colour: string, edge: string): void {
  const corners: Record<Exclude<Shape, "cross">, [number, number][]> = {
    triangle: [[0, -6], [6, 5], [-6, 5]],
    square: [[-5, -5], [5, -5], [5, 5], [-5, 5]],
    diamond: [[0, -6.5], [6.5, 0], [0, 6.5], [-6.5, 0]],
  };
  g.beginPath();
  if (kind === "cross") {
    g.moveTo(x - 5, y - 5); g.lineTo(x + 5, y + 5); g.moveTo(x + 5, y - 5); g.lineTo(x - 5, y + 5);
    for (const [w, c] of [[5, edge], [3, colour]] as const) { g.lineWidth = w; g.strokeStyle = c; g.stroke(); }
    return;
  }
  for (const [dx, dy] of corners[kind]) g.lineTo(x + dx, y + dy);
  g.closePath();
  g.lineWidth = 2; g.strokeStyle = edge; g.stroke();
  g.fillStyle = colour; g.fill();
}

/** What is drawn of packets is not all: nobody shall take it for silence. */
function loading(g: Pen, p: Picture): void {
  g.fillStyle = p.theme.faint;
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "alphabetic";
  g.fillText("Loading packets …", 14, p.height - 34);
}

function noPlaces(g: Pen, p: Picture): void {
  g.fillStyle = p.theme.ink;
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "alphabetic";
  g.fillText(p.xs.length === 1 ? "The position of the node is unknown" : "No positions are known: nodes are drawn in a ring", 14, p.height - 14);
}

function scaleBar(g: Pen, p: Picture): void {
  const metres = roundLength(METRES_PX / p.camera.scale / 2);
  const w = metres * p.camera.scale, x = 14, y = p.height - 14;
  g.strokeStyle = g.fillStyle = p.theme.ink;
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(x, y - 6); g.lineTo(x, y); g.lineTo(x + w, y); g.lineTo(x + w, y - 6);
  g.stroke();
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "alphabetic";
  g.fillText(showLength(metres), x + 5, y - 5);
}

function northArrow(g: Pen, p: Picture): void {
  const x = p.width - 22, y = 18;
  g.fillStyle = p.theme.ink;
  g.beginPath(); g.moveTo(x, y - 10); g.lineTo(x + 6, y + 8); g.lineTo(x, y + 4); g.lineTo(x - 6, y + 8); g.fill();
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "alphabetic";
  g.fillText("N", x - 4.5, y + 22);
}
