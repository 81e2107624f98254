// Losses as marks of a chart.

import type { Frame } from "./frame";

export interface LossMark { t: number; node: number; packet: number; reason: string; x: number; y: number }

export function lossMarks(frame: Frame): LossMark[] {
  const { columns, head } = frame;
  const reasons = head["reasons"] as string[];
  return Array.from({ length: head.rows }, (_, i) => ({
    t: columns["time_ns"][i], node: columns["node"][i], packet: columns["packet"][i], x: columns["x"][i], y: columns["y"][i],
    reason: reasons[columns["reason"][i] - 1] ?? "",
  }));
}

/** The loss after the one that is told, or after a moment; backwards, too. Several of one moment come one after the other. */
export function nextLoss(list: LossMark[], t: number, packet: number | null, forward: boolean): LossMark | null {
  const here = list.findIndex((l) => l.t === t && l.packet === packet);
  if (here >= 0) return list[here + (forward ? 1 : -1)] ?? null;
  return (forward ? list.find((l) => l.t > t) : list.findLast((l) => l.t < t)) ?? null;
}
