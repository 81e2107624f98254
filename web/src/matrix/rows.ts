// What a matrix of attenuators did in a second; nothing here touches the page.

export interface Second {
  time_s: number; mean_error_db: number | null; max_error_db: number | null; false_links: number; solve_ms: number; set_ms: number;
  set: number; unset: number; missed: number; places_m: [number, number, number][]; settings_db: number[][];
  /** Not in logs of older versions. */
  inputs?: string[]; wanted_db?: number[]; made_db?: number[]; beyond_db?: number | null;
}

export interface Link { a: number; b: number; wanted: number; made: number; error: number; isBeyond: boolean; isFalse: boolean }

/** The links (0, 1), (0, 2), ... of a second. The error of one beyond range is what is missing, below 0; of others made less wanted. */
export function linksOf(s: Second): Link[] {
  const { wanted_db: wanted, made_db: made } = s, n = s.places_m.length;
  if (!wanted || !made || wanted.length !== (n * (n - 1)) / 2 || made.length !== wanted.length) return [];
  const links: Link[] = [];
  for (let a = 0, l = 0; a < n; a += 1) {
    for (let b = a + 1; b < n; b += 1, l += 1) {
      const limit = s.beyond_db ?? Infinity, isBeyond = wanted[l] >= limit;
      const error = isBeyond ? Math.min(0, made[l] - limit) : made[l] - wanted[l];
      links.push({ a, b, wanted: wanted[l], made: made[l], error, isBeyond, isFalse: isBeyond && made[l] < limit });
    }
  }
  return links;
}

/** The worst ones first; those of a radio only, if one is chosen. */
export function sorted(links: Link[], radio: number | null): Link[] {
  const of = radio === null ? links : links.filter((l) => l.a === radio || l.b === radio);
  return [...of].sort((x, y) => Number(y.isFalse) - Number(x.isFalse) || Math.abs(y.error) - Math.abs(x.error));
}

/** The second that holds at a moment: the last one not after it. */
export function secondAt(seconds: Second[], time: number): Second | null {
  let low = 0, high = seconds.length;
  while (low < high) { const mid = (low + high) >> 1; if (seconds[mid].time_s <= time) low = mid + 1; else high = mid; }
  return seconds[low - 1] ?? seconds[0] ?? null;
}

/** West, south, east, north of all places. */
export function extent(seconds: Second[]): [number, number, number, number] | null {
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const s of seconds) for (const [x, y] of s.places_m) {
    box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y); box[2] = Math.max(box[2], x); box[3] = Math.max(box[3], y);
  }
  return Number.isFinite(box[0]) ? box : null;
}

export const db = (v: number | null | undefined): string => (v === null || v === undefined ? "–" : v.toFixed(2));
export const signed = (v: number): string => `${v > 0 ? "+" : v < 0 ? "−" : "±"}${Math.abs(v).toFixed(2)}`;
