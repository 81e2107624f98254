// What a scenario takes down, cuts or attacks, and when: bars above the clock. Nothing here touches the page.

import { type Json, list, member, type Operation, type Step, type Table } from "./model";

/** A time of an entry that the text gives, seconds. `until` is null for one that lasts to the end. */
export interface Span {
  path: Step[]; kind: "outage" | "cut" | "attack"; label: string; from: number; until: number | null;
  /** Further times of the same entry, which follow from the first. */
  again: [number, number][];
  /** The keys by which it can be moved and stretched; none for times at random. */
  keys: { from: string; length?: string; until?: string } | null;
}

const MOST_AGAIN = 500;
const number = (v: Json | undefined): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);

function who(entry: Json): string {
  const nodes = list(member(entry, "nodes")), node = member(entry, "node"), share = number(member(entry, "nodes_share"));
  if (share !== null) return `${Math.round(share * 1000) / 10} % of the nodes`;
  const all = node === undefined ? nodes : [node, ...nodes];
  if (all.length === 0) return "all nodes";
  const shown = all.slice(0, 4).map(String).join(", ");
  return `${all.length === 1 ? "node" : "nodes"} ${shown}${all.length > 4 ? ` and ${all.length - 4} more` : ""}`;
}

function outage(entry: Json, i: number, end: number): Span {
  const from = number(member(entry, "start_s")) ?? 0, length = number(member(entry, "length_s")), every = number(member(entry, "every_s"));
  const random = number(member(entry, "mean_up_s")) !== null;
  const until = length === null ? null : from + length;
  const again: [number, number][] = [];
  if (every !== null && every > 0 && length !== null) {
    for (let t = from + every; t < end && again.length < MOST_AGAIN; t += every) again.push([t, t + length]);
  }
  return { path: ["outages", i], kind: "outage", label: `${random ? "Random outages" : "Outage"} ${i + 1}: ${who(entry)}`, from, until, again, keys: random ? null : { from: "start_s", length: "length_s" } };
}

export function spans(tree: Table | null, end: number): Span[] {
  if (!tree) return [];
  const outages = list(tree["outages"]).map((o, i) => outage(o, i, end));
  const cuts = list(tree["wires"]).flatMap((w, i) => list(member(w, "cuts")).map((c, k): Span => {
    const from = number(member(c, "start_s")) ?? 0, length = number(member(c, "length_s"));
    return { path: ["wires", i, "cuts", k], kind: "cut", label: `Cut ${k + 1} of wire ${wireName(w, i)}`, from, until: length === null ? null : from + length, again: [], keys: { from: "start_s", length: "length_s" } };
  }));
  const attacks = list(tree["attacks"]).map((a, i): Span => ({
    path: ["attacks", i], kind: "attack", label: `Attack ${i + 1}: ${String(member(a, "kind") ?? "?")}, ${who(a)}`,
    from: number(member(a, "at_s")) ?? 0, until: number(member(a, "until_s")), again: [], keys: { from: "at_s", until: "until_s" },
  }));
  return [...outages, ...cuts, ...attacks];
}

export const wireName = (wire: Json, index: number): string => String(member(wire, "name") ?? `wire${index}`);

/** To the tenth of a second: bars are not placed more exactly by hand. */
const tenth = (s: number): number => Math.round(s * 10) / 10;

/** The edits that give a span these times. */
export function spanned(span: Span, from: number, until: number | null): Operation[] {
  if (!span.keys) return [];
  const at = tenth(Math.max(0, from)), set = (key: string, value: number): Operation => ({ op: "set", path: [...span.path, key], value });
  const operations: Operation[] = at === span.from ? [] : [set(span.keys.from, at)];
  const was = span.until, isLonger = was === null || until === null;
  if (until !== null && span.keys.length && (isLonger || tenth(until - from) !== tenth(was - span.from))) operations.push(set(span.keys.length, Math.max(0.1, tenth(until - from))));
  if (until !== null && span.keys.until && until !== was) operations.push(set(span.keys.until, Math.max(at + 0.1, tenth(until))));
  return operations;
}
