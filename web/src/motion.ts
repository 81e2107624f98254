// Where nodes are: the simulator's own formula, position = start + velocity x (t - from), on the legs that the run recorded.

import type { Frame } from "./frame";

export interface Place { x: number; y: number; z: number }

export class Motion {
  /** The first leg of each node, and one past the last; legs are sorted by node, then by time. */
  private readonly first: Int32Array;
  private readonly hint: Int32Array;
  readonly from: number;
  readonly until: number;

  constructor(private readonly frame: Frame, readonly nodes: number) {
    this.from = frame.head["from_ns"] as number;
    this.until = frame.head["until_ns"] as number;
    this.first = new Int32Array(nodes + 1);
    const node = frame.columns["node"];
    for (const n of node) if (n < nodes) this.first[n + 1] += 1;
    for (let n = 0; n < nodes; n += 1) this.first[n + 1] += this.first[n];
    this.hint = this.first.slice(0, nodes);
  }

  covers(t: number): boolean {
    return t >= this.from && t < this.until;
  }

  /** The place of a node; null where the run does not say. A leg's end stays its place until the next one begins. */
  at(node: number, t: number): Place | null {
    const c = this.frame.columns;
    const leg = this.leg(node, t);
    if (leg < 0) return null;
    const seconds = (Math.min(t, c["until"][leg]) - c["from"][leg]) * 1e-9;
    const place = {
      x: c["x"][leg] + c["vx"][leg] * seconds,
      y: c["y"][leg] + c["vy"][leg] * seconds,
      z: c["z"][leg] + c["vz"][leg] * seconds,
    };
    return Number.isFinite(place.x + place.y + place.z) ? place : null;
  }

  /** The places of all nodes, into columns as long as there are nodes; NaN where the run does not say. */
  fill(t: number, xs: Float64Array, ys: Float64Array, zs: Float64Array): void {
    const { until, from, x, y, z, vx, vy, vz } = this.frame.columns;
    for (let n = 0; n < xs.length; n += 1) {
      const leg = n < this.nodes ? this.leg(n, t) : -1;
      if (leg < 0) { xs[n] = ys[n] = zs[n] = NaN; continue; }
      const seconds = (Math.min(t, until[leg]) - from[leg]) * 1e-9;
      xs[n] = x[leg] + vx[leg] * seconds;
      ys[n] = y[leg] + vy[leg] * seconds;
      zs[n] = z[leg] + vz[leg] * seconds;
      if (!Number.isFinite(xs[n] + ys[n] + zs[n])) xs[n] = ys[n] = zs[n] = NaN;
    }
  }

  /** Metres per second; 0 where the run does not say. */
  speed(node: number, t: number): number {
    const c = this.frame.columns;
    const leg = this.leg(node, t);
    return leg < 0 || !this.at(node, t) || t >= c["until"][leg] ? 0 : Math.hypot(c["vx"][leg], c["vy"][leg], c["vz"][leg]);
  }

  /** When the leg began that holds at a moment: of a real node, its last fix. */
  since(node: number, t: number): number | null {
    const leg = this.leg(node, t);
    return leg < 0 ? null : this.frame.columns["from"][leg];
  }

  private leg(node: number, t: number): number {
    const from = this.frame.columns["from"];
    const begin = this.first[node], end = this.first[node + 1];
    let leg = this.hint[node];
    if (begin === end || from[begin] > t) return -1;
    if (from[leg] > t) leg = begin;
    // Time mostly goes on a little; a jump is searched for.
    if (leg + 8 < end && from[leg + 8] <= t) {
      let high = end;
      while (high - leg > 1) {
        const mid = (leg + high) >> 1;
        if (from[mid] <= t) leg = mid; else high = mid;
      }
    }
    while (leg + 1 < end && from[leg + 1] <= t) leg += 1;
    this.hint[node] = leg;
    return leg;
  }
}

/** The box around all legs' begins and ends in the frame: what there is to see; null if no place is known. */
export function bounds(frame: Frame, endNs: number): [number, number, number, number] | null {
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  const { node, from, until } = frame.columns;
  for (let i = 0; i < node.length; i += 1) {
    for (const t of [from[i], Math.min(until[i], endNs)]) {
      const seconds = Math.max(0, (t - from[i]) * 1e-9);
      const x = frame.columns["x"][i] + frame.columns["vx"][i] * seconds;
      const y = frame.columns["y"][i] + frame.columns["vy"][i] * seconds;
      if (!Number.isFinite(x + y)) continue;
      box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x); box[3] = Math.max(box[3], y);
    }
  }
  return Number.isFinite(box[0]) ? box : null;
}
