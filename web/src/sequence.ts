// What happened at a TCP sender, as marks of a chart.

import type { Frame } from "./frame";

export interface Sequence {
  /** Seconds and octets; of acknowledgements the octet up to which all had come. */
  sent: [number, number][]; again: [number, number][]; acked: [number, number][]; timeouts: [number, number][];
}

export function sequence(frame: Frame): Sequence {
  const events = frame.head["events"] as string[];
  const s: Sequence = { sent: [], again: [], acked: [], timeouts: [] };
  const c = frame.columns;
  for (let i = 0; i < frame.head.rows; i += 1) {
    const at = c["time_ns"][i] / 1e9;
    switch (events[c["event"][i] - 1]) {
      case "send": s.sent.push([at, c["octet"][i]]); break;
      case "resend": case "probe": s.again.push([at, c["octet"][i]]); break;
      case "ack": s.acked.push([at, c["acked"][i]]); break;
      case "timeout": s.timeouts.push([at, c["octet"][i]]); break;
    }
  }
  return s;
}

/** The same of a program's connection, as its kernel told it at each look: what was sent again is drawn at the oldest octet that was not acknowledged. */
export function looked(frame: Frame): Sequence {
  const s: Sequence = { sent: [], again: [], acked: [], timeouts: [] };
  const c = frame.columns;
  for (let i = 0; i < frame.head.rows; i += 1) {
    const at = c["time_ns"][i] / 1e9;
    s.sent.push([at, c["sent"][i]]);
    s.acked.push([at, c["acked"][i]]);
    if (c["sent_again"][i] > (i > 0 ? c["sent_again"][i - 1] : 0)) s.again.push([at, c["acked"][i]]);
  }
  return s;
}

/** The range of the values in a range of seconds, with a margin. */
export function visible(seconds: number[], values: number[], [from, to]: [number, number]): [number, number] {
  let least = Infinity, most = -Infinity;
  seconds.forEach((s, i) => {
    if (s >= from && s <= to) { least = Math.min(least, values[i]); most = Math.max(most, values[i]); }
  });
  if (least > most) return [0, 1];
  // The foot is for the marks of discoveries.
  const height = Math.max(most - least, 1);
  return [least - height * 0.12, most + height * 0.06];
}
