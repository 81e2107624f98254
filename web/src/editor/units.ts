// The units of the scenario's keys, for the fields of the editor: a key says its own at its end.

const SUFFIXES: Record<string, string> = {
  s: "s", ms: "ms", us: "µs", ns: "ns", m: "m", km: "km", mps: "m/s", db: "dB", dbm: "dBm", dbi: "dBi", bytes: "bytes", bps: "bit/s", mbps: "Mbit/s", pps: "packets/s",
  hz: "Hz", mhz: "MHz", w: "W", j: "J", deg: "°", px: "px", ppm: "ppm", packets: "packets", frames: "frames", bundles: "bundles", factor: "×", share: "0 to 1",
};
const NAMES: Record<string, string> = {
  x: "m", y: "m", z: "m", alt: "m", lat: "°", lon: "°", bytes: "bytes", mtu: "bytes", loss: "0 to 1", jitter: "0 to 1", duty: "0 to 1", opacity: "0 to 1",
  window: "segments", initial_window: "segments", window_per_hop: "segments",
};

/** The unit of a key; empty where it is a mere number. */
export const unitOf = (key: string): string => NAMES[key] ?? (key.includes("_") ? SUFFIXES[key.slice(key.lastIndexOf("_") + 1)] : undefined) ?? "";
