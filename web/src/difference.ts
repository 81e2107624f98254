// What two runs differ in: figures of their summaries, and counts over time.

import { reasonWords } from "./causes";
import type { Frame } from "./frame";

export type Series = Frame;
export interface Figure { name: string; own: string; beside: string; difference: string }

type Totals = Record<string, unknown> | null;

const number = (totals: Totals, path: string[]): number | null => {
  let value: unknown = totals;
  for (const key of path) value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : null;
  return typeof value === "number" ? value : null;
};

const FIGURES: { name: string; path: string[]; digits: number; factor?: number }[] = [
  { name: "delivered, %", path: ["delivery_ratio"], digits: 2, factor: 100 },
  { name: "sent", path: ["sent"], digits: 0 },
  { name: "received", path: ["received"], digits: 0 },
  { name: "latency, mean, ms", path: ["latency_ms", "mean"], digits: 1 },
  { name: "latency, 95th percentile, ms", path: ["latency_ms", "p95"], digits: 1 },
  { name: "hops, mean", path: ["hops_mean"], digits: 2 },
  { name: "routing packets", path: ["routing_packets"], digits: 0 },
];

/** The figures of two summaries with their difference, the second less the first; what is undefined in a run is a dash. */
export function figures(own: Totals, beside: Totals): Figure[] {
  const causes = [own, beside].flatMap((t) => Object.keys((t?.["drops"] as Record<string, number> | undefined) ?? {}));
  const drops = [...new Set(causes)].sort().map((cause) => ({ name: `dropped: ${reasonWords(cause)}`, path: ["drops", cause], digits: 0, zero: true }));
  return [...FIGURES.map((f) => ({ ...f, zero: false })), ...drops].map((f) => {
    const factor = "factor" in f ? Number(f.factor ?? 1) : 1;
    // A cause that a summary does not name had no packets; another figure that it lacks is undefined.
    const [a, b] = [own, beside].map((t) => { const v = number(t, f.path) ?? (f.zero && t ? 0 : null); return v === null ? null : v * factor; });
    const show = (v: number | null) => (v === null ? "–" : v.toFixed(f.digits));
    const difference = a === null || b === null ? "–" : `${b - a > 0 ? "+" : ""}${show(b - a)}`;
    return { name: f.name, own: show(a), beside: show(b), difference };
  });
}

/** How many events of a kind a run had up to a moment, seconds; within a bin, in proportion. */
export function soFar(series: Series, kind: string, seconds: number): number {
  const bin = (series.head["bin_ns"] as number) / 1e9, column = series.columns[kind] ?? [];
  const whole = Math.min(column.length, Math.floor(seconds / bin));
  let sum = 0;
  for (let i = 0; i < whole; i += 1) sum += column[i];
  return sum + (whole < column.length ? column[whole] * (seconds / bin - whole) : 0);
}

/** Events a second around each moment, over a window of `width` seconds. */
export function rateOf(series: Series, kind: string, seconds: number[], width: number): number[] {
  return seconds.map((s) => (soFar(series, kind, s + width / 2) - soFar(series, kind, s - width / 2)) / width);
}
