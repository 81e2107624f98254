// What can be charted over time.

import type { Frame } from "./frame";
import { reasonInWords } from "./told";

export interface Quantity { key: string; label: string; group: string; unit: string }

const EVENTS: [string, string][] = [
  ["originate", "sent by applications"], ["transmit", "transmissions"], ["receive", "receptions"], ["deliver", "deliveries"],
  ["drop", "drops"], ["forward", "forwarded"], ["recall", "removed from the queue"],
];
const FIGURES: [string, string, string][] = [
  ["queued", "queue length", "packets"], ["hops", "route length", "hops"], ["rtt_us", "round-trip time to the neighbour", "ms"],
];

/** What a list of the table `sizes` is called. */
export const listName = (list: string): string => (list === "queue" ? "interface queue" : list === "forwarding" ? "forwarding table" : list.replaceAll("_", " "));

/** What a run's counts can show; the figures come from the table `sends`, the lists from `sizes`. */
export function quantities(kinds: string[], lists: string[] = []): Quantity[] {
  const rate = "per second";
  const kind = (of: string, group: string, words: (name: string) => string) => kinds.filter((k) => k.startsWith(`${of}/`))
    .map((key) => ({ key, label: words(key.slice(of.length + 1)), group, unit: rate }));
  return [
    ...EVENTS.map(([key, label]) => ({ key, label, group: "Events", unit: rate })),
    ...kind("drop", "Drops by reason", (name) => `${name}: ${reasonInWords(name)}`),
    ...kind("routing", "Routing packets by type, per hop", (name) => name),
    ...lists.map((list) => ({ key: `sizes/${list}`, label: `${listName(list)}, length`, group: "Queues, caches and tables", unit: /queue|buffer/.test(list) ? "packets" : "entries" })),
    ...FIGURES.map(([key, label, unit]) => ({ key: `sends/${key}`, label, group: "At each data packet sent (DSR)", unit })),
  ];
}

/** A line has no more points than these: more are a blur. */
const POINTS = 150;

/** Seconds, and what happened in each second then; null where it is not counted yet. The last part of a run is as long as the run goes on. */
export function rates(frame: Frame, key: string): [Float64Array, (number | null)[]] | null {
  const column = frame.columns[key];
  if (!column) return null;
  const bin = (frame.head["bin_ns"] as number) / 1e9, end = Math.min(column.length * bin, ((frame.head["end_ns"] as number | undefined) ?? Infinity) / 1e9);
  const size = Math.ceil(column.length / POINTS), points = Math.ceil(column.length / size);
  const until = (i: number) => Math.min(end, i * size * bin);
  const seconds = Float64Array.from({ length: points }, (_, i) => (until(i) + until(i + 1)) / 2);
  const values = Array.from({ length: points }, (_, i) => {
    let sum = 0;
    for (const n of column.subarray(i * size, (i + 1) * size)) sum += n;
    return Number.isNaN(sum) ? null : sum / (until(i + 1) - until(i));
  });
  return [seconds, values];
}

/** Whether a quantity has a mean and a greatest value, and is no count. */
export const isFigure = (key: string): boolean => key.startsWith("sends/") || key.startsWith("sizes/");

/** Seconds, mean and greatest length of a list; null where nobody looked. Moments without a value between two are left out, so that the line has no gaps. */
export function lengths(frame: Frame, list: string): [Float64Array, (number | null)[], (number | null)[]] | null {
  const mean = frame.columns[`mean/${list}`], most = frame.columns[`most/${list}`];
  if (!mean || !most) return null;
  const bin = (frame.head["bin_ns"] as number) / 1e9, known = [...mean.keys()].filter((i) => !Number.isNaN(mean[i]));
  return [Float64Array.from(known, (i) => (i + 0.5) * bin), known.map((i) => mean[i]), known.map((i) => most[i])];
}

/** Seconds, mean and greatest value of a figure; null where there was none. Microseconds become milliseconds. */
export function figures(frame: Frame, key: string): [Float64Array, (number | null)[], (number | null)[]] {
  const bin = (frame.head["bin_ns"] as number) / 1e9, unit = key === "rtt_us" ? 1e-3 : 1;
  const column = (name: string) => Array.from(frame.columns[name], (v) => (Number.isNaN(v) ? null : v * unit));
  return [Float64Array.from({ length: frame.head.rows }, (_, i) => (i + 0.5) * bin), column("mean"), column("most")];
}

/** The greatest value and its place; null of none. */
export function greatest(values: ArrayLike<number | null>): number | null {
  let at: number | null = null;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (value !== null && value > 0 && (at === null || value > values[at]!)) at = i;
  }
  return at;
}
