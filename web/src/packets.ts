// Packets' events, fetched in stretches of time and forgotten again.

import type { Frame } from "./frame";

export const NOBODY = -1;
export const EVERYBODY = -2;

export interface Hop {
  t: number; node: number; peer: number; flow: number; packet: number; seq: number;
  event: string; className: string; reason: string | null;
}

/** Kinds of events as numbers, for what looks at many rows. */
export const KIND = { other: 0, originate: 1, send: 2, forward: 3, transmit: 4, receive: 5, deliver: 6, drop: 7 } as const;

/** Classes of packets that carry what people send; all others are a routing protocol's, or ARP's. */
const DATA = new Set(["cbr", "poisson", "on-off", "pareto", "trace", "ping", "tcp", "data"]);
export const isData = (name: string | undefined): boolean => name === undefined || DATA.has(name);

/** By the number of a word in a frame, what it means; 0 is no word. */
function meanings(words: string[], of: (word: string | undefined) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, number) => of(words[number - 1]));
}

/** A stretch of the table `packets`, complete from `from` to `until`. */
export class Stretch {
  readonly from: number;
  readonly until: number;
  readonly time: Float64Array;
  /** The {@link KIND} of each word of the column `event`, and whether each of `class` is data's. */
  readonly kinds: Uint8Array;
  readonly data: Uint8Array;

  constructor(readonly frame: Frame) {
    this.kinds = meanings(frame.head["events"] as string[], (word) => KIND[word as keyof typeof KIND] ?? KIND.other);
    this.data = meanings(frame.head["classes"] as string[], (word) => Number(isData(word)));
    this.from = frame.head["from_ns"] as number;
    this.until = frame.head["until_ns"] as number;
    this.time = frame.columns["time_ns"] as Float64Array;
  }

  /** The first row at `t` or later. */
  lower(t: number): number {
    let low = 0, high = this.time.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.time[mid] < t) low = mid + 1; else high = mid;
    }
    return low;
  }

  row(i: number): Hop {
    const c = this.frame.columns;
    const word = (list: string, column: string) => (this.frame.head[list] as string[])[c[column][i] - 1] ?? "other";
    return {
      t: this.time[i], node: c["node"][i], peer: c["peer"][i], flow: c["flow"][i],
      packet: c["packet"][i], seq: c["seq"][i],
      event: word("events", "event"), className: word("classes", "class"),
      reason: c["reason"][i] === 0 ? null : word("reasons", "reason"),
    };
  }
}

const MOST_STRETCHES = 12;
/** Requests at a time: a replay that is faster than they are leaves some moments out. */
const MOST_PENDING = 3;

/** The stretches at hand. `load` fetches one, and is not asked for one that is on its way. */
export class Stretches {
  private list: Stretch[] = [];
  /** Those on their way, by their first moments. */
  private pending = new Map<number, Promise<Stretch>>();

  constructor(private readonly load: (from: number, to: number) => Promise<Stretch>, private readonly last: number,
    private readonly width: number, private readonly arrived: () => void = () => {}) {}

  /** The last moment. */
  get end(): number {
    return this.last;
  }

  /** Whether what is not at hand is on its way, or will be. */
  get loads(): boolean {
    return true;
  }

  /** The stretch that holds a moment, if it is at hand; else it is fetched, and `undefined` meanwhile. */
  at(t: number): Stretch | undefined {
    const found = this.list.find((s) => t >= s.from && t < s.until);
    if (!found && this.pending.size < MOST_PENDING) void this.fetch(t);
    return found;
  }

  /** Fetches the stretch after that of a moment, while there is time. */
  ahead(t: number): void {
    const now = this.list.find((s) => t >= s.from && t < s.until);
    if (now && now.until <= this.last) this.at(now.until);
  }

  /** What holds a moment, as soon as it is at hand. */
  async fetch(t: number): Promise<Stretch | undefined> {
    const held = this.list.find((s) => t >= s.from && t < s.until);
    if (held) return held;
    // Windows begin at fixed moments, so that two ways to the same moment fetch the same.
    const begin = Math.floor(t / this.width) * this.width;
    const before = this.list.filter((s) => s.until <= t && s.until > begin).map((s) => s.until);
    const from = Math.max(begin, ...before);
    let coming = this.pending.get(from);
    if (!coming) {
      coming = this.take(from, begin + this.width);
      this.pending.set(from, coming);
    }
    const got = await coming;
    return t < got.until ? got : await this.fetch(t);
  }

  private async take(from: number, to: number): Promise<Stretch> {
    try {
      const got = await this.load(from, to);
      this.list.push(got);
      if (this.list.length > MOST_STRETCHES) this.list.shift();
      this.arrived();
      return got;
    } finally {
      this.pending.delete(from);
    }
  }

  /** Visits the rows at hand of `since..=t`, the latest first, up to a limit. Says whether no more are on their way. */
  back(t: number, since: number, most: number, visit: (stretch: Stretch, row: number) => void): boolean {
    let left = most;
    let stretch = this.at(t);
    // Of what is not at hand the stretches before are needed, too: they are asked for at once.
    let begin = Math.floor(t / this.width) * this.width;
    for (; this.loads && !stretch && since < begin && begin > 0 && this.pending.size < MOST_PENDING; begin -= this.width) this.at(begin - 1);
    let i = stretch ? stretch.lower(t + 1) - 1 : -1;
    while (stretch && left > 0) {
      for (; i >= 0 && stretch.time[i] >= since && left > 0; i -= 1, left -= 1) visit(stretch, i);
      if (i >= 0 || stretch.from <= since || stretch.from <= 0) return true;
      stretch = this.at(stretch.from - 1);
      i = stretch ? stretch.time.length - 1 : -1;
    }
    return left <= 0 || !this.loads;
  }

  /** The first event after a moment, or the last one before it. */
  async step(t: number, forward: boolean): Promise<Hop | null> {
    let at = t;
    for (let tries = 0; tries < 10_000 && at >= 0 && at <= this.end; tries += 1) {
      const stretch = await this.fetch(at);
      if (!stretch) return null;
      const i = forward ? stretch.lower(t + 1) : stretch.lower(t) - 1;
      if (i >= 0 && i < stretch.time.length) return stretch.row(i);
      at = forward ? stretch.until : stretch.from - 1;
    }
    return null;
  }
}
