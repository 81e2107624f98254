// A running run as reported by the studio: the positions of nodes, the outcome of packets, and other events. Only the latest data are kept.

import type { Flow } from "../runinfo";
import { reasonWords } from "../causes";
import { countsOf, lengthsOf, type Look } from "../counts";
import type { Frame } from "../frame";
import type { Place } from "../motion";
import { Stretch, Stretches } from "../packets";

export interface Greeting {
  hub: string; name: string; world: string; protocol: string; range_m: number | null;
  /** Seconds of the run in a second; null where its clock is the machine's. */
  speed: number | null;
  nodes: number[]; names: string[]; addresses: string[];
  /** Those that were heard of before. */
  flows: Flow[];
}
export interface Remark { t: number; row: number | null; text: string }

/** Places that are kept, of all nodes together, and events of packets. */
const MOST_PLACES = 3_000_000, MOST_LOOKS = 100_000, MOST_ROWS = 500_000, MOST_REMARKS = 500;
/** The replay follows so far behind, milliseconds, so that what it shows has come. */
const BEHIND_MS = 300;
/** Without a word for so long, the run's clock is not believed to go on, milliseconds. */
const SILENT_MS = 1500;

interface Sample { t: number; at: (Place | null)[] }

/** The stretches of packets that have come; nothing is fetched. */
export class Heard extends Stretches {
  private readonly heard: Stretch[] = [];
  private rows = 0;

  constructor() {
    super(() => Promise.reject(new Error("a running run is not fetched")), Infinity, 1);
  }

  add(frame: Frame): void {
    const stretch = new Stretch(frame);
    this.heard.push(stretch);
    this.rows += frame.head.rows;
    while (this.rows > MOST_ROWS && this.heard.length > 1) this.rows -= this.heard.shift()!.frame.head.rows;
  }

  override at(t: number): Stretch | undefined {
    let low = 0, high = this.heard.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.heard[mid].until <= t) low = mid + 1; else high = mid;
    }
    const found = this.heard[low];
    return found && found.from <= t ? found : undefined;
  }

  override fetch(t: number): Promise<Stretch | undefined> {
    return Promise.resolve(this.at(t));
  }

  override get loads(): boolean {
    return false;
  }

  override get end(): number {
    return (this.heard.at(-1)?.until ?? 0) - 1;
  }

  get begin(): number {
    return this.heard[0]?.from ?? 0;
  }

  get all(): readonly Stretch[] {
    return this.heard;
  }
}

export class LiveRun {
  readonly packets = new Heard();
  remarks: Remark[] = [];
  /** By row; those of a node that is down are not known. */
  counters: Record<number, Record<string, number>> = {};
  up: boolean[];
  moved: boolean[];
  private readonly looks: Look[][];
  private samples: Sample[] = [];
  private heardAt = 0;

  constructor(readonly about: Greeting) {
    this.up = about.nodes.map(() => true);
    this.moved = about.nodes.map(() => false);
    this.looks = about.nodes.map(() => []);
  }

  get nodes(): number {
    return this.about.nodes.length;
  }

  /** Where nodes were at a moment: a message `places`. `now` is the page's clock, milliseconds. */
  place(message: { time_s: number; at: ([number, number, number] | null)[]; moved: boolean[] }, now: number): void {
    const at = message.at.map((p) => (p ? { x: p[0], y: p[1], z: p[2] } : null));
    this.samples.push({ t: message.time_s * 1e9, at });
    if (this.samples.length * Math.max(1, this.nodes) > MOST_PLACES) this.samples.splice(0, this.samples.length >> 2);
    this.moved = message.moved;
    this.heardAt = now;
  }

  /** How long a node's queues and tables are: an event `sizes`. */
  sized(row: number, event: { time_s: number; sizes: Look["sizes"] }): void {
    const looks = this.looks[row];
    if (!looks) return;
    looks.push({ t: event.time_s * 1e9, sizes: event.sizes });
    if (looks.length > Math.max(60, MOST_LOOKS / this.nodes)) looks.splice(0, looks.length >> 2);
  }

  /** The last look at a node's queues and tables up to a moment. */
  lookAt(node: number, t: number): Look | null {
    return this.looks[node]?.findLast((l) => l.t <= t) ?? null;
  }

  /** Lengths over time, of one node or of all, as the server has those of a recorded run. */
  lengths(node: number | null, bins: number): Frame {
    return lengthsOf(node === null ? this.looks.flat() : this.looks[node] ?? [], this.packets.end + 1, bins);
  }

  /** Something happened besides packets: a message `event`. */
  remark(row: number | null, event: Record<string, unknown>): void {
    // The map says where nodes are.
    if (event["kind"] === "position") return;
    const t = typeof event["time_s"] === "number" ? event["time_s"] * 1e9 : (this.samples.at(-1)?.t ?? 0);
    this.remarks.push({ t, row, text: tell(event) });
    if (this.remarks.length > MOST_REMARKS) this.remarks.splice(0, this.remarks.length - MOST_REMARKS);
  }

  /** The moment that the map shows while it follows, nanoseconds. */
  edge(now: number): number {
    const last = this.samples.at(-1);
    if (!last) return 0;
    return Math.max(this.samples[0].t, last.t + (Math.min(now - this.heardAt, SILENT_MS) - BEHIND_MS) * 1e6 * (this.about.speed ?? 1));
  }

  covers(): boolean {
    return true;
  }

  /** The place of a node: between two moments at which it is known, on the line. */
  at(node: number, t: number): Place | null {
    const i = this.before(t);
    const a = this.samples[Math.max(i, 0)]?.at[node] ?? null, next = this.samples[i + 1];
    const b = next?.at[node];
    if (i < 0 || !a || !b) return a;
    const share = Math.min(1, Math.max(0, (t - this.samples[i].t) / (next.t - this.samples[i].t)));
    return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share, z: a.z + (b.z - a.z) * share };
  }

  /** The places of all nodes, into columns as long as there are nodes; NaN where they are not known. */
  fill(t: number, xs: Float64Array, ys: Float64Array, zs: Float64Array): void {
    for (let n = 0; n < xs.length; n += 1) {
      const at = this.at(n, t);
      xs[n] = at?.x ?? NaN; ys[n] = at?.y ?? NaN; zs[n] = at?.z ?? NaN;
    }
  }

  /** Metres per second over the last second. */
  speed(node: number, t: number): number {
    const a = this.at(node, t - 1e9), b = this.at(node, t);
    return a && b ? Math.hypot(b.x - a.x, b.y - a.y, b.z - a.z) : 0;
  }

  /** Since when its place at a moment is known. */
  since(node: number, t: number): number | null {
    const sample = this.samples[this.before(t)];
    return sample?.at[node] ? sample.t : null;
  }

  /** The sample at a moment or before it; -1 if there is none. */
  private before(t: number): number {
    let low = 0, high = this.samples.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.samples[mid].t <= t) low = mid + 1; else high = mid;
    }
    return low - 1;
  }

  /** The box around all nodes now; null while it is not known where any is. */
  bounds(): [number, number, number, number] | null {
    const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const p of this.samples.at(-1)?.at ?? []) {
      if (!p) continue;
      box[0] = Math.min(box[0], p.x); box[1] = Math.min(box[1], p.y);
      box[2] = Math.max(box[2], p.x); box[3] = Math.max(box[3], p.y);
    }
    return Number.isFinite(box[0]) ? box : null;
  }

  /** Packets by kind of event over the time that is kept, of one node or of all. */
  counts(node: number | null, bins: number): Frame {
    return countsOf(this.packets.all, this.packets.end + 1, node, bins);
  }
}

/** An event of a control socket in words. */
export function tell(e: Record<string, unknown>): string {
  switch (e["kind"]) {
    case "note": {
      // A remark about nobody has the address 0.0.0.0, and one without a number 0.
      const about = e["about"] && e["about"] !== "0.0.0.0" ? ` ${e["about"]}` : "";
      return `${String(e["what"]).replaceAll("_", " ")}${about}${e["value"] ? ` (${e["value"]})` : ""}`;
    }
    case "drop": return `dropped a packet${e["destination"] ? ` for ${e["destination"]}` : ""}: ${reasonWords(String(e["reason"]))}`;
    case "route": return e["next_hop"] ? `route to ${e["destination"]} via ${e["next_hop"]}, ${e["hops"]} hops` : `lost the route to ${e["destination"]}`;
    case "link": return `link to node ${e["to"]}: ${typeof e["state"] === "string" ? e["state"] : JSON.stringify(e["state"])}`;
    case "process": return "exit" in e ? `${e["command"]} exited with ${e["exit"]}` : `${e["command"]} started`;
    case "neighbour": return `neighbour ${e["address"]} at ${e["mac"]}`;
    case "host": return `the host changed ${e["what"]}: ${e["done"]}`;
    case "lost": return `${e["count"]} events were lost: the studio or this page was too slow`;
    default: return String(e["kind"]);
  }
}
