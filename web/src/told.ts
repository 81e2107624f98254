// What the server reports about a packet, and small questions about it.

export interface Receiver { node: number | null; node_name: string | null; outcome: string; text: string }
export interface Step { time_s: number; node: number; node_name: string; what: string; text: string; attempt: number | null; at: Receiver[] }
export interface Story {
  run: string; packet: number; flow: number | null; seq: number | null; class: string; source: string; destination: string;
  outcome: string | null; reason: string | null; has_receptions: boolean; steps: Step[]; more: number;
  /** Each time that a node handed the packet to an interface, and for whom. */
  hops: { time_ns: number; node: number; peer: number }[];
  path?: { text: string } | null;
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
/** A frame of a capture, layer by layer; what it does not have is null. */
export interface Dissected {
  node: number; frame: number; time_ns: number | null; sent: boolean | null; bytes: number; captured_bytes: number; comment: string | null;
  radio: { header_bytes: number; bad_fcs: boolean; rate_mbps: number | null; channel_mhz: number | null; signal_dbm: number | null; noise_dbm: number | null; retries: number | null } | null;
  link: { kind: string; transmitter?: string | null; receiver?: string | null; retry?: boolean; duration_us?: number; sequence?: number | null } | null;
  ip: { src: string; dst: string; ttl: number; id: number; bytes: number; protocol: number; protocol_name: string | null; src_port: number | null; dst_port: number | null } | null;
  messages: { [key: string]: Json }[]; octets: string;
}
export interface Frames { frames: Dissected[]; all: number; more: boolean; without_capture: number[]; problems: string[]; file: string }

export const isLost = (story: Story): boolean => story.outcome === "dropped";

/** The last line at or before a moment; -1 before the first. */
export function currentStep(steps: Step[], t: number): number {
  let low = 0, high = steps.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (Math.round(steps[mid].time_s * 1e9) <= t) low = mid + 1; else high = mid;
  }
  return low - 1;
}

/** What a person types for a packet: its number in the run, or its flow and its number there. */
export function parsePacket(text: string): { packet: number } | { flow: number; seq: number } | null {
  const numbers = /^\s*(?:(\d{1,10})\s*[:\/,\s]\s*)?(\d{1,15})\s*$/.exec(text);
  if (!numbers) return null;
  return numbers[1] === undefined ? { packet: Number(numbers[2]) } : { flow: Number(numbers[1]), seq: Number(numbers[2]) };
}

// As docs/concepts/life-of-a-packet.md has them.
const WORDS: Record<string, string> = {
  NO_ROUTE: "no route, and this node may not discover one",
  DISCOVERY_FAILED: "the last route discovery had no reply",
  BUFFER_TIMEOUT: "it waited too long for a route",
  BUFFER_FULL: "too many packets were waiting for a route",
  QUEUE_FULL: "the interface queue was full",
  MAC_RETRIES: "the last attempt on the link failed",
  ARP_FULL: "replaced by a newer packet while the link address was being resolved",
  ARP_FAILED: "the next hop's link address could not be resolved",
  TTL_EXPIRED: "its time to live expired",
  LOOP: "it would have visited a node twice",
  NO_SALVAGE: "its route broke, and there was no other one",
  SALVAGE_LIMIT: "it was salvaged as often as allowed",
  MALFORMED: "a header is inconsistent",
  DUPLICATE: "duplicate of a packet received before",
  POLICY: "it requests something that this node's configuration forbids",
  NO_LISTENER: "no application is listening for it",
  TOO_LONG: "it is longer than the link can carry",
  NODE_DOWN: "the node that held it went down",
  LOST_ON_AIR: "sent without acknowledgement, and not received",
  RATE_LIMIT: "its neighbour sent more routing packets than this node accepts",
  ATTACK: "dropped by an attacker in the scenario",
  AUTH_MISSING: "a routing packet without authentication",
  AUTH_FAILED: "a routing packet that no key of this node verifies",
  AUTH_REPLAY: "a routing packet that was received before",
  AUTH_UNKNOWN: "its neighbour has not answered this node's challenge yet",
};

export const reasonInWords = (reason: string): string => WORDS[reason] ?? "for another reason";

/** What of a routing message its frame's other lines say already. */
const SAID = ["frame", "time_ns", "sent", "transmitter", "receiver", "retry", "signal_dbm", "src", "dst", "ttl", "ip_id", "ip_bytes", "protocol", "type"];

/** A frame's layers, the lowest first: a name, and what its header says. */
export function layers(f: Dissected): [string, string][] {
  const known = (parts: [string, unknown][]) => parts
    .filter(([, value]) => value !== null && value !== undefined && value !== false).map(([name, value]) => (value === true ? name : `${name} ${value}`)).join(", ");
  const unit = (value: number | null | undefined, of: string) => (value === null || value === undefined ? null : `${value} ${of}`);
  const all: [string, string][] = [];
  if (f.radio) {
    all.push(["Radio", known([["FCS wrong", f.radio.bad_fcs], ["", unit(f.radio.rate_mbps, "Mb/s")], ["", unit(f.radio.channel_mhz, "MHz")],
      ["signal", unit(f.radio.signal_dbm, "dBm")], ["noise", unit(f.radio.noise_dbm, "dBm")]])]);
  }
  if (f.link) {
    all.push([`Link: ${f.link.kind}`, known([["from", f.link.transmitter], ["to", f.link.receiver], ["retransmission", f.link.retry],
      ["number", f.link.sequence], ["reserves", unit(f.link.duration_us, "µs")]])]);
  }
  if (f.ip) {
    all.push(["IP", known([["from", f.ip.src], ["to", f.ip.dst], ["TTL", f.ip.ttl], ["identification", f.ip.id], ["", unit(f.ip.bytes, "bytes")],
      ["protocol", f.ip.protocol_name ?? f.ip.protocol]])]);
    if (f.ip.src_port !== null) all.push(["UDP", `port ${f.ip.src_port} to ${f.ip.dst_port}`]);
  }
  for (const m of f.messages) {
    const fields = Object.entries(m).filter(([key]) => !SAID.includes(key));
    all.push([`${String(m["protocol"]).toUpperCase()}: ${m["type"]}`, fields.map(([k, v]) => `${k.replaceAll("_", " ")} ${inWords(v)}`).join(", ")]);
  }
  return all.map(([name, text]) => [name, text.replaceAll(/(^|, ) /g, "$1")]);
}

function inWords(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inWords).join(", ")}]`;
  if (value !== null && typeof value === "object") return Object.entries(value).map(([k, v]) => `${k.replaceAll("_", " ")} ${inWords(v)}`).join(", ");
  return String(value);
}

/** Octets as lines of 16, each with its place. */
export function dump(hex: string): string {
  const lines = [];
  for (let i = 0; i < hex.length; i += 32) {
    lines.push(`${(i / 2).toString(16).padStart(4, "0")}  ${(hex.slice(i, i + 32).match(/../g) ?? []).join(" ")}`);
  }
  return lines.join("\n");
}
