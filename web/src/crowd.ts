// Links and nodes of large networks, pixel by pixel. A canvas without a GPU strokes 40,000 smooth lines in some 40 ms; these take 5.

interface Sheet { canvas: OffscreenCanvas; g: OffscreenCanvasRenderingContext2D; image: ImageData; pixels: Uint32Array }

let sheet: Sheet | null = null;

function sheetOf(width: number, height: number): Sheet {
  if (sheet?.canvas.width === width && sheet.canvas.height === height) { sheet.pixels.fill(0); return sheet; }
  const canvas = new OffscreenCanvas(width, height);
  const g = canvas.getContext("2d")!;
  const image = g.createImageData(width, height);
  sheet = { canvas, g, image, pixels: new Uint32Array(image.data.buffer) };
  return sheet;
}

/** `#rrggbb` as a pixel of an image: R, G, B, A in this order in memory, on the little-endian machines that browsers run on. */
export function pixel(colour: string): number {
  const rgb = Number.parseInt(colour.slice(1), 16);
  return ((255 << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

/** Part of a line from 0 to 1 that lies within a rectangle from (0, 0) (Liang and Barsky, 1984); null if none does. */
export function clip(x0: number, y0: number, x1: number, y1: number, width: number, height: number): [number, number] | null {
  let from = 0, to = 1;
  const dx = x1 - x0, dy = y1 - y0;
  for (const [p, q] of [[-dx, x0], [dx, width - 1 - x0], [-dy, y0], [dy, height - 1 - y0]]) {
    if (p === 0) { if (q < 0) return null; continue; }
    const r = q / p;
    if (p < 0) from = Math.max(from, r); else to = Math.min(to, r);
    if (from > to) return null;
  }
  return [from, to];
}

export function line(pixels: Uint32Array, width: number, height: number, x0: number, y0: number, x1: number, y1: number, colour: number): void {
  const isInside = (x: number, y: number) => x >= 0 && y >= 0 && x <= width - 1 && y <= height - 1;
  let ax = x0, ay = y0, bx = x1, by = y1;
  if (!isInside(x0, y0) || !isInside(x1, y1)) {
    const part = clip(x0, y0, x1, y1, width, height);
    // A place that is not known has no lines.
    if (!part || Number.isNaN(part[0] + part[1] + x0 + y0 + x1 + y1)) return;
    const [from, to] = part;
    ax = x0 + (x1 - x0) * from; ay = y0 + (y1 - y0) * from;
    bx = x0 + (x1 - x0) * to; by = y0 + (y1 - y0) * to;
  }
  const steps = Math.max(1, Math.ceil(Math.max(Math.abs(bx - ax), Math.abs(by - ay))));
  const dx = (bx - ax) / steps, dy = (by - ay) / steps;
  for (let i = 0, x = ax + 0.5, y = ay + 0.5; i <= steps; i += 1, x += dx, y += dy) {
    const px = Math.min(width - 1, x | 0), py = Math.min(height - 1, y | 0);
    pixels[py * width + px] = colour;
  }
}

function disc(pixels: Uint32Array, width: number, height: number, cx: number, cy: number, r: number, colour: number): void {
  if (!(cx > -r && cy > -r && cx < width + r && cy < height + r)) return;
  for (let y = Math.max(0, Math.ceil(cy - r)); y <= Math.min(height - 1, Math.floor(cy + r)); y += 1) {
    const half = Math.sqrt(r * r - (y - cy) * (y - cy));
    const from = Math.max(0, Math.ceil(cx - half)), to = Math.min(width - 1, Math.floor(cx + half));
    pixels.fill(colour, y * width + from, y * width + to + 1);
  }
}

/** Draws links (pairs of indices into the places) and nodes; places are in pixels of the page, of which each has `ratio` of the screen's. */
export function crowd(g: CanvasRenderingContext2D, ratio: number, links: number[], sx: Float64Array, sy: Float64Array,
  linkColour: string, nodeColour: string, radius: number): void {
  const { width, height } = g.canvas;
  if (width === 0 || height === 0) return;
  const s = sheetOf(width, height);
  const link = pixel(linkColour), node = pixel(nodeColour);
  for (let i = 0; i < links.length; i += 2) {
    const a = links[i], b = links[i + 1];
    line(s.pixels, width, height, sx[a] * ratio, sy[a] * ratio, sx[b] * ratio, sy[b] * ratio, link);
  }
  for (let n = 0; n < sx.length; n += 1) disc(s.pixels, width, height, sx[n] * ratio, sy[n] * ratio, radius * ratio, node);
  s.g.putImageData(s.image, 0, 0);
  g.drawImage(s.canvas, 0, 0, width / ratio, height / ratio);
}
