// What rows of a node's tables add up to.

import type { Row } from "./api";
import { ago } from "./clock";
import { KIND, type Stretches } from "./packets";

const MOST_ROWS = 20_000;

/** When a node last received something from whom, the latest first, and whether no more are on their way. Receptions of packets for
 * others are not in the table. */
export function heardBy(stretches: Stretches, node: number, t: number, lately: number): { heard: [number, number][]; isComplete: boolean } {
  const last = new Map<number, number>();
  const isComplete = stretches.back(t, t - lately, MOST_ROWS, (s, i) => {
    const c = s.frame.columns, peer = c["peer"][i];
    if (c["node"][i] !== node || peer < 0 || last.has(peer)) return;
    if (s.kinds[c["event"][i]] === KIND.receive) last.set(peer, s.time[i]);
  });
  return { heard: [...last], isComplete };
}

/** Whom a node heard, those together that it heard at the same time: all who answered a search, say. */
export function heardInWords(heard: [number, number][], t: number, name: (node: number) => string): string {
  const at = new Map<string, string[]>();
  for (const [node, then] of heard) {
    const when = ago(t, then);
    at.set(when, [...(at.get(when) ?? []), name(node)]);
  }
  return [...at].map(([when, names]) => `${names.join(", ")} (${when})`).join(", ");
}

/** Next hops of what was sent lately: how many packets, and how many hops the last one had before it. */
export function routesOf(sends: Row[]): { hop: string; packets: number; hops: number }[] {
  const by = new Map<string, { hop: string; packets: number; hops: number }>();
  for (const row of sends) {
    if (row["next_hop"] === null) continue;
    const hop = String(row["next_hop"]);
    by.set(hop, { hop, packets: (by.get(hop)?.packets ?? 0) + 1, hops: Number(row["hops"]) });
  }
  return [...by.values()].sort((a, b) => b.packets - a.packets);
}
