// Where nodes are drawn at a moment at which nobody knows where they are: a field run without GPS.

import type { Box } from "./recorded";

/** What a map shows as long as it has no place to show, metres. */
export const NOWHERE: Box = [0, 0, 100, 100];

/** Puts all nodes on a circle within the box, in the order of their numbers, node 0 in the north, and gives true; if a node has a place, gives false. */
export function onRing(xs: Float64Array, ys: Float64Array, box: Box): boolean {
  if (xs.length === 0 || xs.some((x) => !Number.isNaN(x))) return false;
  const radius = 0.45 * Math.max(Math.min(box[2] - box[0], box[3] - box[1]), 1);
  for (let n = 0; n < xs.length; n += 1) {
    const angle = (2 * Math.PI * n) / xs.length;
    xs[n] = (box[0] + box[2]) / 2 + radius * Math.sin(angle);
    ys[n] = (box[1] + box[3]) / 2 + radius * Math.cos(angle);
  }
  return true;
}
