// What a GPS receiver said of a node's place, in words.

/** What is known of it: of a row of the table `gps`, or of an answer of the control socket. What is not known is null. */
export interface Quality {
  status: string | null; mode: number | null; accuracy_m: number | null; vertical_m: number | null; accuracy_from: string | null;
  satellites: number | null; corrections_age_s: number | null; time_unix_s: number | null;
}

const STATUS: Record<string, string> = {
  "none": "no position", "2d": "2D, without altitude", "3d": "3D", "dgps": "3D, with differential corrections", "rtk-float": "RTK, ambiguities not yet fixed",
  "rtk-fixed": "RTK, fixed", "dead-reckoning": "dead reckoning", "gnss-dead-reckoning": "satellites and dead reckoning", "surveyed": "surveyed", "simulated": "simulated", "precise": "precise",
};

const number = (v: unknown): number | null => (typeof v === "number" && Number.isFinite(v) ? v : null);

export function qualityOf(from: Record<string, unknown>): Quality {
  const fixed = number(from["fix_time_ns"]);
  return {
    status: typeof from["status"] === "string" ? from["status"] : null, mode: number(from["mode"]), accuracy_m: number(from["accuracy_m"]), vertical_m: number(from["vertical_m"]),
    accuracy_from: typeof from["accuracy_from"] === "string" ? from["accuracy_from"] : null, satellites: number(from["satellites"]),
    corrections_age_s: number(from["corrections_age_s"]), time_unix_s: fixed !== null ? fixed / 1e9 : number(from["time_unix_s"]),
  };
}

/** Lengths from millimetres to kilometres. */
export function metresInWords(m: number): string {
  if (m < 0.1) return `${(m * 1000).toFixed(0)} mm`;
  return m < 10 ? `${m.toFixed(2)} m` : `${m.toFixed(0)} m`;
}

/** What kind of fix it is, how exact, with how many satellites. */
export function fixInWords(q: Quality): string {
  const from: Record<string, string> = { gst: "reported by the receiver", epx: "estimated by gpsd" };
  return [
    q.status === null ? "unknown quality" : (STATUS[q.status] ?? q.status),
    q.accuracy_m === null ? null : `± ${metresInWords(q.accuracy_m)}${q.vertical_m === null ? "" : `, height ± ${metresInWords(q.vertical_m)}`}${q.accuracy_from ? ` (${from[q.accuracy_from] ?? q.accuracy_from})` : ""}`,
    q.satellites === null ? null : `${q.satellites} satellites`,
    q.corrections_age_s === null ? null : `corrections ${q.corrections_age_s.toFixed(1)} s old`,
  ].filter(Boolean).join(", ");
}

/** The receiver's own time of a position. */
export const takenAt = (unix_s: number): string => `${new Date(unix_s * 1000).toISOString().replace("T", " ").replace(/\.?0*Z$/, "")} UTC`;
