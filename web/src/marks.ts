// What the map shows of packets at a moment: who sends, which way data goes, what was lost.

import { EVERYBODY, type Hop, type Stretches } from "./packets";

export interface Sending { node: number; peer: number; age: number; routing: boolean }
export interface Route { node: number; peer: number; packets: number }
export interface Loss { hop: Hop; age: number }
export interface Marks { sendings: Sending[]; routes: Route[]; losses: Loss[] }

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
  const routes = new Map<number, Route>();
  stretches.back(t, since, MOST_ROWS, (s, i) => {
    const age = t - s.time[i];
    const event = (s.frame.head["events"] as string[])[s.frame.columns["event"][i] - 1];
    const node = s.frame.columns["node"][i], peer = s.frame.columns["peer"][i];
    const isRouting = !isData((s.frame.head["classes"] as string[])[s.frame.columns["class"][i] - 1]);
    if (event === "drop") {
      if (age <= stay(LOSS_MS) && losses.length < MOST_LOSSES) losses.push({ hop: s.row(i), age: age / stay(LOSS_MS) });
      return;
    }
    if (event === "transmit" && age <= stay(SENDING_MS) && sendings.length < MOST_SENDINGS) {
      sendings.push({ node, peer, age: age / stay(SENDING_MS), routing: isRouting });
    }
    if (!isRouting && peer >= 0 && age <= routeStay && (event === "send" || event === "forward")) {
      const key = node * 1_000_003 + peer;
      const route = routes.get(key);
      if (route) route.packets += 1; else routes.set(key, { node, peer, packets: 1 });
    }
  });
  return { sendings, routes: [...routes.values()], losses };
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
