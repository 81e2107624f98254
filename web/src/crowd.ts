// Links, nodes and transmissions of large networks, pixel by pixel. A canvas without a GPU strokes 40,000 lines in some 40 ms, and the
// 1,000 dashed rings of a flooded request, too; these take a tenth.

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

/** Blends a colour over a pixel, with an opacity of `alpha` / 255. */
function cover(pixels: Uint32Array, at: number, rgb: number, alpha: number): void {
  const before = pixels[at] >>> 24;
  // A division by 255 of what has 16 bits, in whole numbers: 0x8081 / 2^23 is a little more than a 255th.
  pixels[at] = ((before === 0 ? alpha : alpha + ((before * (255 - alpha) * 0x8081) >>> 23)) << 24) | rgb;
}

/** A line a pixel wide. Of two pixels across it each has the part that the line covers (Wu, 1991). There are ten thousands of them in
 * a picture: nothing is allocated for one that lies inside. */
export function line(pixels: Uint32Array, width: number, height: number, x0: number, y0: number, x1: number, y1: number, colour: number): void {
  const right = width - 1, bottom = height - 1;
  let ax = x0, ay = y0, bx = x1, by = y1;
  if (!(x0 >= 0 && y0 >= 0 && x0 <= right && y0 <= bottom && x1 >= 0 && y1 >= 0 && x1 <= right && y1 <= bottom)) {
    // Most lines of a map that is zoomed in lie on one side of it.
    if ((x0 < 0 && x1 < 0) || (y0 < 0 && y1 < 0) || (x0 > width && x1 > width) || (y0 > height && y1 > height)) return;
    const part = clip(x0, y0, x1, y1, width, height);
    // A place that is not known has no lines.
    if (!part || Number.isNaN(part[0] + part[1] + x0 + y0 + x1 + y1)) return;
    const [from, to] = part;
    ax = x0 + (x1 - x0) * from; ay = y0 + (y1 - y0) * from;
    bx = x0 + (x1 - x0) * to; by = y0 + (y1 - y0) * to;
  }
  const rgb = colour & 0xffffff, isSteep = Math.abs(by - ay) > Math.abs(bx - ax);
  // Along the line, and across it: the middle of a pixel is half a pixel from its number.
  const along = isSteep ? width : 1, across = isSteep ? 1 : width, last = isSteep ? right : bottom;
  const isForward = isSteep ? ay <= by : ax <= bx;
  const a = isSteep ? (isForward ? ay : by) : isForward ? ax : bx, b = isSteep ? (isForward ? ax : bx) : isForward ? ay : by;
  const c = isSteep ? (isForward ? by : ay) : isForward ? bx : ax, d = isSteep ? (isForward ? bx : ax) : isForward ? by : ay;
  const slope = c > a ? (d - b) / (c - a) : 0, end = Math.min(Math.floor(c), isSteep ? bottom : right);
  for (let k = Math.max(0, Math.floor(a)), v = b - 0.5 + slope * (k + 0.5 - a); k <= end; k += 1, v += slope) {
    const cell = Math.min(last, Math.max(0, Math.floor(v))), part = Math.min(255, Math.max(0, ((v - cell) * 255) | 0));
    const at = k * along + cell * across;
    cover(pixels, at, rgb, 255 - part);
    if (part > 0 && cell < last) cover(pixels, at + across, rgb, part);
  }
}

/** A ring, of dashes if it is dashed; `alpha` of 255. */
export function ring(pixels: Uint32Array, width: number, height: number, cx: number, cy: number, r: number, colour: number, alpha: number, dash: number): void {
  if (!(cx > -r && cy > -r && cx < width + r && cy < height + r)) return;
  const steps = Math.ceil(2 * Math.PI * r), value = ((alpha << 24) | (colour & 0xffffff)) >>> 0;
  // From point to point by a rotation, which is faster than a sine and a cosine of each.
  const turn = (2 * Math.PI) / steps, cosTurn = Math.cos(turn), sinTurn = Math.sin(turn);
  let cos = 1, sin = 0;
  for (let k = 0; k < steps; k += 1) {
    if (dash <= 0 || Math.floor(k / dash) % 2 === 0) {
      for (let at = r; at > r - 1; at -= 0.75) {
        const x = Math.floor(cx + at * cos), y = Math.floor(cy + at * sin);
        if (x >= 0 && y >= 0 && x < width && y < height && pixels[y * width + x] >>> 24 <= alpha) pixels[y * width + x] = value;
      }
    }
    const next = cos * cosTurn - sin * sinTurn;
    sin = sin * cosTurn + cos * sinTurn;
    cos = next;
  }
}

function disc(pixels: Uint32Array, width: number, height: number, cx: number, cy: number, r: number, colour: number): void {
  if (!(cx > -r && cy > -r && cx < width + r && cy < height + r)) return;
  const bottom = Math.min(height - 1, Math.floor(cy + r));
  for (let y = Math.max(0, Math.ceil(cy - r)); y <= bottom; y += 1) {
    const half = Math.sqrt(r * r - (y - cy) * (y - cy)), to = Math.min(width - 1, Math.floor(cx + half));
    // A few pixels: a loop is faster than a call of `fill`.
    for (let x = Math.max(0, Math.ceil(cx - half)); x <= to; x += 1) pixels[y * width + x] = colour;
  }
}

export interface Crowd {
  /** Pairs of indices into the places. */
  links: ArrayLike<number>;
  /** Places, in pixels of the page. */
  sx: Float64Array; sy: Float64Array;
  rings: { node: number; radius: number; alpha: number; dashed: boolean }[];
  colours: { link: string; node: string; ring: string };
  /** Of a node, in pixels of the page. */
  radius: number;
}

/** Draws a crowd; a pixel of the page has `ratio` of the screen's. */
export function crowd(g: CanvasRenderingContext2D, ratio: number, c: Crowd): void {
  const { width, height } = g.canvas;
  if (width === 0 || height === 0) return;
  const s = sheetOf(width, height), { sx, sy, links } = c;
  const link = pixel(c.colours.link), node = pixel(c.colours.node), sending = pixel(c.colours.ring);
  for (let i = 0; i < links.length; i += 2) {
    const a = links[i], b = links[i + 1];
    line(s.pixels, width, height, sx[a] * ratio, sy[a] * ratio, sx[b] * ratio, sy[b] * ratio, link);
  }
  for (const r of c.rings) {
    ring(s.pixels, width, height, sx[r.node] * ratio, sy[r.node] * ratio, r.radius * ratio, sending, Math.round(255 * r.alpha), r.dashed ? 3 * ratio : 0);
  }
  for (let n = 0; n < sx.length; n += 1) disc(s.pixels, width, height, sx[n] * ratio, sy[n] * ratio, c.radius * ratio, node);
  s.g.putImageData(s.image, 0, 0);
  g.drawImage(s.canvas, 0, 0, width / ratio, height / ratio);
}
