// The way of the packet whose story is told, for the map.

import { signal } from "@preact/signals";
import { isLost, type Step, type Story } from "./told";

/** The stories that are shown. */
export const stories = signal<Story[]>([]);

/** A hop that a packet was handed to the radio for. `arrived`: null while that is open at the run's end. */
export interface Leg { t: number; node: number; peer: number; arrived: boolean | null }
export interface Way {
  legs: Leg[];
  /** The leg on which the packet was lost; null if it was lost at a node, or arrived. */
  failing: Leg | null;
  /** Where it was lost. */
  lostAt: number | null;
}

const nanos = (step: Step) => Math.round(step.time_s * 1e9);

/** The way of a packet by its hops, and whether it arrived on each: it was received there before its sender tried again. */
export function wayOf(story: Story): Way {
  const arrivals = story.steps.filter((s) => s.what === "receive" || s.what === "deliver");
  const hops = story.hops ?? [];
  const legs = hops.map((hop, i): Leg => {
    const again = hops.slice(i + 1).find((h) => h.node === hop.node)?.time_ns ?? Infinity;
    const arrived = arrivals.some((s) => s.node === hop.peer && nanos(s) >= hop.time_ns && nanos(s) <= again);
    const isOpen = !arrived && story.outcome !== "dropped" && i === hops.length - 1;
    return { t: hop.time_ns, node: hop.node, peer: hop.peer, arrived: isOpen ? null : arrived };
  });
  const drop = isLost(story) ? story.steps.findLast((s) => s.what === "drop") : undefined;
  const last = drop ? legs.findLast((l) => l.node === drop.node) : undefined;
  const failing = last && last.arrived === false ? last : null;
  return { legs, failing, lostAt: drop?.node ?? null };
}
