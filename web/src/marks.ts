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
    const isRouting = s.frame.columns["flow"][i] < 0;
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

/** A packet's event in words. */
export function tell(hop: Hop, name: (node: number) => string): string {
  const what = hop.flow >= 0 ? `${hop.className} packet ${hop.seq} of flow ${hop.flow}` : `routing packet (${hop.className})`;
  const peer = hop.peer === EVERYBODY ? " to all in range" : hop.peer >= 0
    ? ` ${hop.event === "receive" ? "from" : "to"} ${name(hop.peer)}` : "";
  return `${name(hop.node)}: ${hop.event} ${what}${peer}${hop.reason ? `: ${hop.reason}` : ""}`;
}
