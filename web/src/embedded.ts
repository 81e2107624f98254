// A run that the document itself holds: the page is part of a report, and there is no server.

import { countsOf } from "./counts";
import { decode, type Frame } from "./frame";
import { Stretch } from "./packets";
import type { RunInfo } from "./runinfo";

interface Data { name: string; info: RunInfo; positions: string; packets: string[] }

const BINS = 300;

function octets(base64: string): ArrayBuffer {
  const text = atob(base64), all = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) all[i] = text.charCodeAt(i);
  return all.buffer;
}

export class Embedded {
  readonly name: string;
  readonly info: RunInfo;
  readonly positions: Frame;
  private readonly stretches: Stretch[];

  constructor(data: Data) {
    this.name = data.name;
    this.info = data.info;
    this.positions = decode(octets(data.positions));
    this.stretches = data.packets.map((p) => new Stretch(decode(octets(p))));
  }

  /** The stretch of packets that holds a moment. */
  packets(moment: number): Frame {
    const found = this.stretches.find((s) => moment >= s.from && moment < s.until) ?? this.stretches.at(-1)!;
    return found.frame;
  }

  overview(node: number | null): Frame {
    return countsOf(this.stretches, this.info.end_ns, node, BINS);
  }
}

function read(): Embedded | null {
  const text = typeof document === "undefined" ? null : document.getElementById("recorded")?.textContent;
  return text ? new Embedded(JSON.parse(text) as Data) : null;
}

export const embedded = read();
