// From metres (x east, y north) to pixels, and back.

const SIDE_PX = 60;

/** West, south, east and north end, metres. */
export type Box = [number, number, number, number];

export interface Camera { x: number; y: number; scale: number }

/** Shows the whole box with a margin, in which the buttons at the right and the scale below stand. */
export function fit(box: Box, width: number, height: number): Camera {
  const w = Math.max(box[2] - box[0], 1), h = Math.max(box[3] - box[1], 1);
  const scale = Math.max(1e-6, Math.min((width - 2 * SIDE_PX) / w, (height - 110) / h));
  return { x: (box[0] + box[2]) / 2, y: (box[1] + box[3]) / 2, scale };
}

export function toScreen(c: Camera, width: number, height: number, x: number, y: number): [number, number] {
  return [width / 2 + (x - c.x) * c.scale, height / 2 - (y - c.y) * c.scale];
}

export function toGround(c: Camera, width: number, height: number, sx: number, sy: number): [number, number] {
  return [c.x + (sx - width / 2) / c.scale, c.y - (sy - height / 2) / c.scale];
}

/** Zooms so that the ground below a pixel stays there. */
export function zoomAt(c: Camera, width: number, height: number, sx: number, sy: number, factor: number): Camera {
  const [x, y] = toGround(c, width, height, sx, sy);
  const scale = Math.min(1e4, Math.max(1e-5, c.scale * factor));
  return { scale, x: x - (sx - width / 2) / scale, y: y + (sy - height / 2) / scale };
}

/** A round length, 1, 2 or 5 times a power of ten, of at least this number of metres. */
export function roundLength(metres: number): number {
  const power = 10 ** Math.floor(Math.log10(metres));
  return [1, 2, 5, 10].map((n) => n * power).find((l) => l >= metres * 0.999) ?? 10 * power;
}

export function showLength(metres: number): string {
  return metres >= 1000 ? `${metres / 1000} km` : metres >= 1 ? `${metres} m` : `${Math.round(metres * 100)} cm`;
}
