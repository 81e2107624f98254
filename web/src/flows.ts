// Flows on the map: how each is drawn, which are shown, and how much goes by them.

import { signal } from "@preact/signals";
import type { Flow } from "./runinfo";
import type { Marks, Route } from "./marks";

/** The flow that stands out, and those that are not drawn. */
export const chosen = signal<number | null>(null);
export const hidden = signal<ReadonlySet<number>>(new Set());
/** Whether links have their rates beside them. */
export const ratesShown = signal(false);

// Colours of Okabe and Ito, some darker or lighter, so that each can be told from the ground.
const LIGHT = ["#0072B2", "#C24E00", "#00815C", "#AD4F83", "#8C6D00", "#6A3D9A", "#9B2226"];
const DARK = ["#56B4E9", "#FF9A57", "#2FCB9F", "#E79CC4", "#F0E442", "#B79CF2", "#FF8A8A"];
const DASHES = [[], [11, 4], [3, 3]];

export interface Style { colour: string; dash: number[] }

/** Colours come again after seven flows, with another dash. */
export function styleOf(flow: number, isNight: boolean): Style {
  const colours = isNight ? DARK : LIGHT;
  return { colour: colours[flow % colours.length], dash: DASHES[Math.floor(flow / colours.length) % DASHES.length] };
}

export function toggle(flow: number): void {
  const next = new Set(hidden.value);
  if (!next.delete(flow)) next.add(flow);
  hidden.value = next;
}

/** What programs' TCP and UDP have for ports; ICMP echoes have an identifier there. */
const hasPorts = (flow: Flow): boolean => flow.protocol === 6 || flow.protocol === 17;

/** Between whom a flow is, in words: a host outside the mesh has its address, a program's flow the port of the end that serves: the lower one. */
export function endsInWords(flow: Flow, name: (node: number) => string, isWhole = false): string {
  const from = flow.src_port ?? Infinity, to = flow.dst_port ?? Infinity;
  const port = (own: number, isServer: boolean) => (hasPorts(flow) && Number.isFinite(own) && (isWhole || isServer) ? `:${own}` : "");
  const end = (address: string | undefined, node: number | null, other: string) => address ?? (node === null ? other : name(node));
  return `${end(flow.src_address, flow.src, "?")}${port(from, from < to)} → ${end(flow.dst_address, flow.dst, "all")}${port(to, to <= from)}`;
}

/** Bits a second in the unit that suits it. */
export function showRate(bps: number): string {
  const [value, unit] = bps >= 1e6 ? [bps / 1e6, "Mb/s"] : bps >= 1e3 ? [bps / 1e3, "kb/s"] : [bps, "b/s"];
  return `${value >= 100 ? value.toFixed(0) : Number(value.toPrecision(2))} ${unit}`;
}

export const rateOf = (bytes: number, marks: Marks): number => (marks.span_s > 0 ? (8 * bytes) / marks.span_s : 0);

/** Lines are up to 7 pixels wide; those of one link may touch. */
const LANE_PX = 6;

export interface Lane { route: Route; shift: number }

/** The routes to draw, those of one link beside each other: where there are some in both directions, each on its own side. */
export function lanes(routes: Route[], isHidden: (flow: number) => boolean): Lane[] {
  const links = new Map<string, Route[]>();
  for (const route of routes) {
    if (isHidden(route.flow)) continue;
    const key = `${route.node} ${route.peer}`, link = links.get(key);
    if (link) link.push(route); else links.set(key, [route]);
  }
  return [...links.values()].flatMap((link) => {
    const first = links.has(`${link[0].peer} ${link[0].node}`) ? 0.5 : -(link.length - 1) / 2;
    return link.sort((a, b) => a.flow - b.flow).map((route, k) => ({ route, shift: LANE_PX * (first + k) }));
  });
}

/** All flows of a link as one: what is drawn where lines of many flows would be a blur. */
export function united(routes: Route[]): Route[] {
  const links = new Map<string, Route>();
  for (const route of routes) {
    const key = `${route.node} ${route.peer}`, link = links.get(key);
    if (!link) links.set(key, { ...route, flow: -1 });
    else { link.packets += route.packets; link.bytes += route.bytes; }
  }
  return [...links.values()];
}

/** Both ends of a lane, to the side of the line between the nodes. */
export function placed(lane: Lane, sx: ArrayLike<number>, sy: ArrayLike<number>): [number, number, number, number] {
  const { node, peer } = lane.route;
  const dx = sx[peer] - sx[node], dy = sy[peer] - sy[node], length = Math.hypot(dx, dy) || 1;
  const ox = (-dy / length) * lane.shift, oy = (dx / length) * lane.shift;
  return [sx[node] + ox, sy[node] + oy, sx[peer] + ox, sy[peer] + oy];
}

/** How far a pixel is from a line between two. */
export function distance(x: number, y: number, [x0, y0, x1, y1]: [number, number, number, number]): number {
  const dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
  const along = square === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / square));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}
