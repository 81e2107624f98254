// What the map shows of packets at a moment: who sends, which way data goes, what was lost.

import { EVERYBODY, type Hop, isData, KIND, type Stretch, type Stretches } from "./packets";

/** A transmission; `flow` is -1 for packets of no flow. */
export interface Sending { node: number; peer: number; flow: number; age: number; routing: boolean }
/** What a flow (-1: of no flow) sent by a link. */
export interface Route { node: number; peer: number; flow: number; packets: number; bytes: number }
export interface Loss { hop: Hop; age: number }
/** Bytes of IP packets that a flow's source sent and its destinations received. */
export interface Carried { sent: number; delivered: number }
/** `span_s` is how long the routes and what flows carried were counted for; `isComplete`: whether no more rows of that time are on their way. */
export interface Marks { sendings: Sending[]; routes: Route[]; losses: Loss[]; flows: Map<number, Carried>; span_s: number; isComplete: boolean }
export const NO_MARKS: Marks = { sendings: [], routes: [], losses: [], flows: new Map(), span_s: 0, isComplete: true };

/** How long a transmission and a loss stay on the screen, milliseconds of real time at speed 1 and above. */
const SENDING_MS = 250, LOSS_MS = 2000;
/** A route is in use if a packet went that way so lately, milliseconds of the run. */
const ROUTE_MS = 2000;
/** Rows looked at for one picture. */
const MOST_ROWS = 30_000;
const MOST_LOSSES = 200, MOST_SENDINGS = 2000;

/** The marks at `t`, the time that they stay stretched by the speed of the replay. */
export function marksAt(stretches: Stretches, t: number, speed: number): Marks {
  const stay = (ms: number) => ms * 1e6 * Math.max(speed, 0.1);
  const routeStay = Math.max(ROUTE_MS * 1e6, stay(SENDING_MS));
  const since = t - Math.max(routeStay, stay(LOSS_MS));
  const sendings: Sending[] = [], losses: Loss[] = [];
  // By link, and there by flow: of these a link has few.
  const links = new Map<number, Route[]>(), flows = new Map<number, Carried>();
  let visited = 0, oldest = t;
  // The columns of the stretch that is looked at.
  let of: Stretch | null = null, c: Stretch["frame"]["columns"] = {};
  const isComplete = stretches.back(t, since, MOST_ROWS, (s, i) => {
    if (s !== of) { of = s; c = s.frame.columns; }
    const age = t - s.time[i];
    visited += 1;
    oldest = s.time[i];
    switch (s.kinds[c["event"][i]]) {
      case KIND.drop:
        if (age <= stay(LOSS_MS) && losses.length < MOST_LOSSES) losses.push({ hop: s.row(i), age: age / stay(LOSS_MS) });
        return;
      case KIND.transmit:
        if (age <= stay(SENDING_MS) && sendings.length < MOST_SENDINGS) {
          sendings.push({ node: c["node"][i], peer: c["peer"][i], flow: c["flow"][i], age: age / stay(SENDING_MS), routing: s.data[c["class"][i]] === 0 });
        }
        return;
      case KIND.send: case KIND.forward: {
        const node = c["node"][i], peer = c["peer"][i];
        if (peer < 0 || age > routeStay || s.data[c["class"][i]] === 0) return;
        const flow = c["flow"][i], key = node * 1_000_003 + peer, link = links.get(key) ?? [], bytes = Math.max(0, c["bytes"]?.[i] ?? 0);
        const route = link.find((r) => r.flow === flow);
        if (route) { route.packets += 1; route.bytes += bytes; } else link.push({ node, peer, flow, packets: 1, bytes });
        links.set(key, link);
        return;
      }
      case KIND.originate: case KIND.deliver: {
        if (age > routeStay || s.data[c["class"][i]] === 0) return;
        const flow = c["flow"][i], carried = flows.get(flow) ?? { sent: 0, delivered: 0 };
        carried[s.kinds[c["event"][i]] === KIND.originate ? "sent" : "delivered"] += Math.max(0, c["bytes"]?.[i] ?? 0);
        flows.set(flow, carried);
      }
    }
  });
  // Where there are more rows than were looked at, the time that they cover is shorter.
  const span = visited >= MOST_ROWS ? t - oldest : Math.min(routeStay, t);
  return { sendings, routes: [...links.values()].flat(), losses, flows, span_s: span / 1e9, isComplete };
}

/** Pairs of nodes of which one heard the other in the last 2 s: links, where no radio model says who is in range. */
export function heardPairs(stretches: Stretches, t: number): number[] {
  const seen = new Set<number>(), pairs: number[] = [];
  stretches.back(t, t - ROUTE_MS * 1e6, MOST_ROWS, (s, i) => {
    const c = s.frame.columns;
    if (s.kinds[c["event"][i]] !== KIND.receive) return;
    const node = c["node"][i], peer = c["peer"][i];
    const key = Math.min(node, peer) * 1_000_003 + Math.max(node, peer);
    if (peer < 0 || node < 0 || seen.has(key)) return;
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
