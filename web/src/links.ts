// Who is in whose range: each pair once, by a grid of squares as wide as the range.

/** Pairs of indices into the places whose distance is at most `range`, one after the other. Places that are NaN have none. */
export function pairsInRange(xs: Float64Array, ys: Float64Array, zs: Float64Array, range: number): number[] {
  const squares = new Map<number, number[]>();
  const wide = 1 << 20;
  const key = (cx: number, cy: number) => cx * wide + cy;
  const pairs: number[] = [];
  for (let i = 0; i < xs.length; i += 1) {
    if (Number.isNaN(xs[i])) continue;
    const cx = Math.floor(xs[i] / range), cy = Math.floor(ys[i] / range);
    for (let dx = -1; dx <= 1; dx += 1) {
      for (let dy = -1; dy <= 1; dy += 1) {
        for (const j of squares.get(key(cx + dx, cy + dy)) ?? []) {
          const x = xs[i] - xs[j], y = ys[i] - ys[j], z = zs[i] - zs[j];
          if (x * x + y * y + z * z <= range * range) pairs.push(j, i);
        }
      }
    }
    const own = squares.get(key(cx, cy));
    if (own) own.push(i); else squares.set(key(cx, cy), [i]);
  }
  return pairs;
}
