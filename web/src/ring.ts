// Where nodes are drawn of a run that knows no place of any of them: a field run without GPS.

import type { Box, Camera } from "./camera";

/** The ground that is shown while no place is known, metres. */
export const NOWHERE: Box = [0, 0, 100, 100];

/** Puts nodes on a circle in the middle of the map, wherever it looks: in the order of their numbers, node 0 in the north. */
export function onRing(xs: Float64Array, ys: Float64Array, camera: Camera, width: number, height: number): void {
  const radius = xs.length === 1 ? 0 : (0.36 * Math.min(width, height)) / camera.scale;
  for (let n = 0; n < xs.length; n += 1) {
    const angle = (2 * Math.PI * n) / xs.length;
    xs[n] = camera.x + radius * Math.sin(angle);
    ys[n] = camera.y + radius * Math.cos(angle);
  }
}
