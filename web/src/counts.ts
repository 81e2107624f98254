// Packets by kind of event, and lengths of queues and tables, over time, from what is at hand of a run; the server counts recorded
// runs in the same way.

import type { Frame } from "./frame";
import type { Stretch } from "./packets";

/** How long a node's queues and tables were at a moment; what is not among them was empty. */
export interface Look { t: number; sizes: { what: string; count: number; interface?: number }[] }

const EVENTS = ["originate", "deliver", "drop", "transmit", "receive", "forward", "recall"];

/** Counts in `bins` equal parts of 0 to `end` nanoseconds, of one node or of all. */
export function countsOf(stretches: readonly Stretch[], end: number, node: number | null, bins: number): Frame {
  const columns: Frame["columns"] = {};
  for (const name of EVENTS) columns[name] = new Int32Array(bins);
  for (const s of stretches) {
    const names = s.frame.head["events"] as string[], kinds = s.frame.columns["event"], of = s.frame.columns["node"];
    const reasons = s.frame.head["reasons"] as string[], why = s.frame.columns["reason"];
    for (let i = 0; i < s.time.length; i += 1) {
      if (node !== null && of[i] !== node) continue;
      const bin = Math.min(bins - 1, Math.floor((s.time[i] / end) * bins));
      const column = columns[names[kinds[i] - 1]];
      if (column) column[bin] += 1;
      if (why[i] > 0) (columns[`drop/${reasons[why[i] - 1]}`] ??= new Int32Array(bins))[bin] += 1;
    }
  }
  const kinds = Object.keys(columns);
  return { head: { rows: bins, bin_ns: end / bins, done: 1, groups: 1, kinds }, columns };
}

/** Mean and greatest length of each list in `bins` equal parts of 0 to `end` nanoseconds; not a number where nobody looked. Several
 * interface queues of a node count together. */
export function lengthsOf(looks: readonly Look[], end: number, bins: number): Frame {
  const columns: Frame["columns"] = {}, counted = new Int32Array(bins);
  const at = (t: number) => Math.max(0, Math.min(bins - 1, Math.floor((t / Math.max(1, end)) * bins)));
  const lists = [...new Set(looks.flatMap((l) => l.sizes.map((s) => s.what)))].sort();
  for (const list of lists) for (const of of ["mean", "most"]) columns[`${of}/${list}`] = new Float64Array(bins);
  for (const look of looks) {
    const bin = at(look.t), sums = new Map<string, number>();
    counted[bin] += 1;
    for (const { what, count } of look.sizes) sums.set(what, (sums.get(what) ?? 0) + count);
    for (const [what, sum] of sums) {
      columns[`mean/${what}`][bin] += sum;
      columns[`most/${what}`][bin] = Math.max(columns[`most/${what}`][bin], sum);
    }
  }
  for (const list of lists) {
    for (let bin = 0; bin < bins; bin += 1) {
      columns[`mean/${list}`][bin] /= counted[bin];
      if (counted[bin] === 0) columns[`most/${list}`][bin] = NaN;
    }
  }
  return { head: { rows: bins, bin_ns: end / bins, lists }, columns };
}
