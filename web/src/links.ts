// Who is in whose range: each pair once, by a grid of squares as wide as the range.

/** A grid has no more squares than these for each place: where places are few and far between, squares are wider. */
const SQUARES = 4;

/** The places that are known, in the order of their squares: rows of squares from south to north, squares from west to east. */
interface Grid { columns: number; rows: number; begins: Int32Array; order: Int32Array }

function gridOf(xs: Float64Array, ys: Float64Array, range: number): Grid | null {
  let west = Infinity, south = Infinity, east = -Infinity, north = -Infinity;
  for (let i = 0; i < xs.length; i += 1) {
    if (Number.isNaN(xs[i])) continue;
    west = Math.min(west, xs[i]); east = Math.max(east, xs[i]);
    south = Math.min(south, ys[i]); north = Math.max(north, ys[i]);
  }
  if (!(west <= east && south <= north)) return null;
  let wide = range, columns = 0, rows = 0;
  for (; ; wide *= 2) {
    columns = Math.floor((east - west) / wide) + 1;
    rows = Math.floor((north - south) / wide) + 1;
    if (columns * rows <= SQUARES * xs.length + SQUARES) break;
  }
  const squares = new Int32Array(xs.length).fill(-1), begins = new Int32Array(columns * rows + 1);
  for (let i = 0; i < xs.length; i += 1) {
    if (Number.isNaN(xs[i])) continue;
    squares[i] = Math.floor((ys[i] - south) / wide) * columns + Math.floor((xs[i] - west) / wide);
    begins[squares[i] + 1] += 1;
  }
  for (let s = 0; s < columns * rows; s += 1) begins[s + 1] += begins[s];
  const next = begins.slice(), order = new Int32Array(begins[columns * rows]);
  for (let i = 0; i < xs.length; i += 1) if (squares[i] >= 0) order[next[squares[i]]++] = i;
  return { columns, rows, begins, order };
}

/** Pairs of indices into the places whose distance is at most `range`, one after the other, the lower index first. Places that are
 * NaN have none. */
export function pairsInRange(xs: Float64Array, ys: Float64Array, zs: Float64Array, range: number): Int32Array {
  const grid = range > 0 ? gridOf(xs, ys, range) : null;
  if (!grid) return new Int32Array();
  const { columns, rows, begins, order } = grid, within = range * range;
  let pairs = new Int32Array(8 * order.length + 2), length = 0;
  /** A place with those of a part of the order. */
  const join = (i: number, from: number, to: number) => {
    const x = xs[i], y = ys[i], z = zs[i];
    for (let k = from; k < to; k += 1) {
      const j = order[k], dx = x - xs[j], dy = y - ys[j], dz = z - zs[j];
      if (dx * dx + dy * dy + dz * dz > within) continue;
      if (length + 2 > pairs.length) { const longer = new Int32Array(2 * pairs.length); longer.set(pairs); pairs = longer; }
      pairs[length] = i < j ? i : j;
      pairs[length + 1] = i < j ? j : i;
      length += 2;
    }
  };
  // Each place with those after it in its own square and the next one, and with those of three squares of the row north of it.
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const square = row * columns + column, north = square + columns, next = column + 1 < columns ? 2 : 1;
      for (let k = begins[square]; k < begins[square + 1]; k += 1) {
        join(order[k], k + 1, begins[square + next]);
        if (row + 1 < rows) join(order[k], begins[north - (column > 0 ? 1 : 0)], begins[north + next]);
      }
    }
  }
  return pairs.subarray(0, length);
}
