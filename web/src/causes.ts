// Why packets end: a shape and a colour for each kind of cause, so that colour is never the only sign.

export type Shape = "cross" | "triangle" | "square" | "diamond";
export interface Cause { shape: Shape; colour: string; sign: string; label: string }

// Colours of Okabe and Ito.
const NO_WAY: Cause = { shape: "cross", colour: "#D55E00", sign: "✕", label: "no route" };
const LINK: Cause = { shape: "triangle", colour: "#CC79A7", sign: "▲", label: "link broken" };
const FULL: Cause = { shape: "square", colour: "#E69F00", sign: "■", label: "queue full" };
const OTHER: Cause = { shape: "diamond", colour: "#009E73", sign: "◆", label: "other cause" };

export const CAUSES = [NO_WAY, LINK, FULL, OTHER];

const BY_REASON: Record<string, Cause> = {
  NO_ROUTE: NO_WAY, DISCOVERY_FAILED: NO_WAY, BUFFER_TIMEOUT: NO_WAY, NO_SALVAGE: NO_WAY, SALVAGE_LIMIT: NO_WAY,
  MAC_RETRIES: LINK, ARP_FAILED: LINK, LOST_ON_AIR: LINK,
  QUEUE_FULL: FULL, BUFFER_FULL: FULL, ARP_FULL: FULL,
};

/** A reason in words: `MAC_RETRIES` is "MAC retries". */
export const reasonWords = (reason: string): string =>
  reason.toLowerCase().replaceAll("_", " ").replace(/\b(arp|mac|ttl)\b/g, (name) => name.toUpperCase());

export function causeOf(reason: string): Cause {
  return BY_REASON[reason] ?? OTHER;
}
