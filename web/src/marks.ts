// What the map shows of packets at a moment: who sends, which way data goes, what was lost.

import { EVERYBODY, type Hop, type Stretches } from "./packets";

/** A transmission; `flow` is -1 for packets of no flow. */
export interface Sending { node: number; peer: number; flow: number; age: number; routing: boolean }
/** What a flow (-1: of no flow) sent by a link. */
export interface Route { node: number; peer: number; flow: number; packets: number; bytes: number }
export interface Loss { hop: Hop; age: number }
/** Bytes of IP packets that a flow's source sent and its destinations received. */
export interface Carried { sent: number; delivered: number }
/** `span_s` is how long the routes and what flows carried were counted for. */
export interface Marks { sendings: Sending[]; routes: Route[]; losses: Loss[]; flows: Map<number, Carried>; span_s: number }
export const NO_MARKS: Marks = { sendings: [], routes: [], losses: [], flows: new Map(), span_s: 0 };

/** How long a transmission and a loss stay on the screen, milliseconds of real time at speed 1 and above. */
const SENDING_MS = 250, LOSS_MS = 2000;
/** A route is in use if a packet went that way so lately, milliseconds of the run. */
const ROUTE_MS = 2000;
/** Rows looked at for one picture. */
const MOST_ROWS = 30_000;
const MOST_LOSSES = 200, MOST_SENDINGS = 2000;

/** Classes of packets that carry what people send; all others are a routing protocol's, or ARP's. */
const DATA = new Set(["cbr", "poisson", "on-off", "pareto", "trace", "ping", "tcp", "data"]);
const isData = (name: string | undefined) => name === undefined || DATA.has(name);

/** The marks at `t`, the time that they stay stretched by the speed of the replay. */
export function marksAt(stretches: Stretches, t: number, speed: number): Marks {
  const stay = (ms: number) => ms * 1e6 * Math.max(speed, 0.1);
  const routeStay = Math.max(ROUTE_MS * 1e6, stay(SENDING_MS));
  const since = t - Math.max(routeStay, stay(LOSS_MS));
  const sendings: Sending[] = [], losses: Loss[] = [];
  // By link, and there by flow: of these a link has few.
  const links = new Map<number, Route[]>(), flows = new Map<number, Carried>();
  let visited = 0, oldest = t;
  stretches.back(t, since, MOST_ROWS, (s, i) => {
    const age = t - s.time[i];
    visited += 1;
    oldest = s.time[i];
    const event = (s.frame.head["events"] as string[])[s.frame.columns["event"][i] - 1];
    const node = s.frame.columns["node"][i], peer = s.frame.columns["peer"][i];
    const bytes = Math.max(0, s.frame.columns["bytes"]?.[i] ?? 0);
    const isRouting = !isData((s.frame.head["classes"] as string[])[s.frame.columns["class"][i] - 1]);
    if (event === "drop") {
      if (age <= stay(LOSS_MS) && losses.length < MOST_LOSSES) losses.push({ hop: s.row(i), age: age / stay(LOSS_MS) });
      return;
    }
    if (event === "transmit" && age <= stay(SENDING_MS) && sendings.length < MOST_SENDINGS) {
      sendings.push({ node, peer, flow: s.frame.columns["flow"][i], age: age / stay(SENDING_MS), routing: isRouting });
    }
    if (!isRouting && peer >= 0 && age <= routeStay && (event === "send" || event === "forward")) {
      const flow = s.frame.columns["flow"][i], key = node * 1_000_003 + peer, link = links.get(key) ?? [];
      const route = link.find((r) => r.flow === flow);
      if (route) { route.packets += 1; route.bytes += bytes; } else link.push({ node, peer, flow, packets: 1, bytes });
      links.set(key, link);
    }
    if ((event === "originate" || event === "deliver") && age <= routeStay && !isRouting) {
      const flow = s.frame.columns["flow"][i], carried = flows.get(flow) ?? { sent: 0, delivered: 0 };
      carried[event === "originate" ? "sent" : "delivered"] += bytes;
      flows.set(flow, carried);
    }
  });
  // Where there are more rows than were looked at, the time that they cover is shorter.
  const span = visited >= MOST_ROWS ? t - oldest : Math.min(routeStay, t);
  return { sendings, routes: [...links.values()].flat(), losses, flows, span_s: span / 1e9 };
}

/** Pairs of nodes of which one heard the other in the last 2 s: links, where no radio model says who is in range. */
export function heardPairs(stretches: Stretches, t: number): number[] {
  const seen = new Set<number>(), pairs: number[] = [];
  stretches.back(t, t - ROUTE_MS * 1e6, MOST_ROWS, (s, i) => {
    const node = s.frame.columns["node"][i], peer = s.frame.columns["peer"][i];
    const key = Math.min(node, peer) * 1_000_003 + Math.max(node, peer);
    if (peer < 0 || node < 0 || seen.has(key)) return;
    if ((s.frame.head["events"] as string[])[s.frame.columns["event"][i] - 1] !== "receive") return;
    seen.add(key);
    pairs.push(node, peer);
  });
  return pairs;
}

/** A packet's event in words. */
export function tell(hop: Hop, name: (node: number) => string): string {
  const what = hop.flow >= 0 ? `${hop.className} packet ${hop.seq} of flow ${hop.flow}`
    : isData(hop.className) ? `${hop.className} packet` : `routing packet (${hop.className})`;
  const peer = hop.peer === EVERYBODY ? " to all in range" : hop.peer >= 0
    ? ` ${hop.event === "receive" ? "from" : "to"} ${name(hop.peer)}` : "";
  return `${name(hop.node)}: ${hop.event} ${what}${peer}${hop.reason ? `: ${hop.reason}` : ""}`;
}
