// Packets by kind of event over time, from what is at hand of them; the server counts recorded runs in the same way.

import type { Frame } from "./frame";
import type { Stretch } from "./packets";

/** Counts in `bins` equal parts of 0 to `end` nanoseconds, of one node or of all. */
export function countsOf(stretches: readonly Stretch[], end: number, node: number | null, bins: number): Frame {
  const columns: Frame["columns"] = {};
  for (const name of ["originate", "deliver", "drop", "transmit"]) columns[name] = new Int32Array(bins);
  for (const s of stretches) {
    const names = s.frame.head["events"] as string[], kinds = s.frame.columns["event"], of = s.frame.columns["node"];
    for (let i = 0; i < s.time.length; i += 1) {
      if (node !== null && of[i] !== node) continue;
      const column = columns[names[kinds[i] - 1]];
      if (column) column[Math.min(bins - 1, Math.floor((s.time[i] / end) * bins))] += 1;
    }
  }
  return { head: { rows: bins, bin_ns: end / bins, done: 1, groups: 1 }, columns };
}
