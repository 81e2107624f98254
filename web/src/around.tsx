// What the tables say of a node at a moment: whom it heard, its last routes, its queues and tables, its fix, its protocol's remarks.

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { ago, showMoment } from "./clock";
import { fixInWords, qualityOf, takenAt } from "./fix";
import { heardBy, heardInWords, routesOf } from "./heard";
import { listName } from "./quantities";
import * as state from "./state";

/** "Lately" is so long, nanoseconds of the run. */
const LATELY = 5e9;
const MOST_SHOWN = 12, MOST_REMARKS = 6;

interface Tables {
  last: api.Row | null; sends: api.Row[]; remarks: api.Row[]; hasSends: boolean;
  /** What was counted at the last look; null where nothing is. */
  sizes: api.Row[] | null;
  /** The receiver's last report, and the last place that somebody told; null in a run without the table. */
  gps: { receiver: api.Row | null; told: api.Row | null } | null;
}

const NONE: Tables = { last: null, sends: [], remarks: [], hasSends: false, sizes: null, gps: null };

/** The rows of the last look at a node's queues and tables. A run of an older version has none. */
async function sizesAt(run: string, node: number, to: number): Promise<api.Row[] | null> {
  try {
    const last = (await api.rows(run, "sizes", { node, to, last: true }))[0];
    const at = Number(last?.["time_ns"]);
    return last ? await api.rows(run, "sizes", { node, from: at, to: at + 1 }) : [];
  } catch {
    return null;
  }
}

async function gpsAt(run: string, node: number, to: number): Promise<Tables["gps"]> {
  try {
    const [receiver, told] = await Promise.all(["receiver", "told"].map((source) => api.rows(run, "gps", { node, to, source, last: true })));
    return { receiver: receiver[0] ?? null, told: told[0] ?? null };
  } catch {
    return null;
  }
}

/** The rows of a node up to a moment. */
function useTables(node: number, upTo: number): Tables | null {
  const [got, set] = useState<Tables | null>(null);
  const run = state.runName.value, isReal = state.info.value?.world === "field";
  useEffect(() => {
    let current = true;
    const from = Math.max(0, upTo - LATELY), to = upTo + 1;
    const load = async () => {
      if (run === null) return;
      const [last, sends, remarks, sizes, gps] = await Promise.all([
        api.rows(run, "sends", { node, to, last: true }), api.rows(run, "sends", { node, from, to }), api.rows(run, "events", { node, from, to }),
        sizesAt(run, node, to), isReal ? gpsAt(run, node, to) : null,
      ]);
      // A protocol that writes no such rows has none at the end of the run either.
      const hasSends = last.length > 0 || (await api.rows(run, "sends", { last: true })).length > 0;
      if (current) set({ last: last[0] ?? null, sends, remarks, hasSends, sizes, gps });
    };
    load().catch(() => { if (current) set(NONE); });
    return () => { current = false; };
  }, [run, node, upTo, isReal]);
  return got;
}

const named = (address: string) => {
  const node = state.info.value?.addresses.indexOf(address) ?? -1;
  return node < 0 ? address : state.nameOf(node);
};
const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;

function list(parts: string[]): string {
  return parts.slice(0, MOST_SHOWN).join(", ") + (parts.length > MOST_SHOWN ? `, and ${parts.length - MOST_SHOWN} more` : "");
}

/** Lines of the list of what is known of a node. */
export function Around({ node, t }: { node: number; t: number }) {
  // While it plays, twice a second of the run is often enough.
  const upTo = state.playing.value ? Math.floor(t / 5e8) * 5e8 : Math.floor(t);
  const tables = useTables(node, upTo);
  // Packets may come after the tables: then this is drawn again.
  void state.arrivals.value;
  const { heard, isComplete } = state.stretches ? heardBy(state.stretches, node, t, LATELY) : { heard: [], isComplete: true };
  const hasReceptions = (state.info.value?.rows ?? 0) > 0;
  return (
    <>
      <dt>Heard, last 5 s</dt>
      <dd>{!hasReceptions ? "not recorded" : heard.length > 0 ? heardInWords(heard.slice(0, MOST_SHOWN), t, state.nameOf) + (heard.length > MOST_SHOWN ? `, and ${heard.length - MOST_SHOWN} more` : "") : isComplete ? "nothing" : "loading …"}</dd>
      {tables && <Sizes sizes={tables.sizes} />}
      {tables && <Protocol tables={tables} t={t} />}
      <Fix node={node} t={t} gps={tables?.gps ?? null} />
    </>
  );
}

/** Queues, buffers, caches, neighbours: how long they were when they were looked at last. */
export function Sizes({ sizes }: { sizes: api.Row[] | null }) {
  if (sizes === null || sizes.length === 0) return <><dt>Queues and tables</dt><dd>{sizes === null ? "not recorded in this run" : "not sampled yet"}</dd></>;
  const interfaces = sizes.filter((r) => r["what"] === "queue").length;
  const words = (r: api.Row) => `${listName(String(r["what"]))}${r["interface"] !== null && interfaces > 1 ? ` of interface ${String(r["interface"])}` : ""} ${String(r["count"])}`;
  return <><dt>Queues and tables</dt><dd class="sizes">{sizes.map(words).join(", ")} <span class="note">(at {showMoment(Number(sizes[0]["time_ns"]))})</span></dd></>;
}

function Protocol({ tables, t }: { tables: Tables; t: number }) {
  const { last, hasSends } = tables;
  const routes = routesOf(tables.sends);
  const none = hasSends ? "nothing sent yet" : "not recorded (DSR only)";
  return (
    <>
      <dt>Last send</dt>
      <dd>{last ? `${showMoment(Number(last["time_ns"]))}: ${String(last["decision"])}, ${last["next_hop"] ? `by ${named(String(last["next_hop"]))}, ${count(Number(last["hops"]), "hop")}` : "no route yet"}` : none}</dd>
      <dt>Queue at that time</dt><dd>{last ? count(Number(last["queued"]), "packet") : none}</dd>
      <dt>Round trip</dt><dd>{!last ? none : last["rtt_us"] === null ? "unknown at that time" : `${Number(last["rtt_us"]) / 1000} ms to that neighbour`}</dd>
      <dt>Routes, last 5 s</dt>
      <dd>{routes.length > 0 ? list(routes.map((r) => `by ${named(r.hop)}: ${count(r.packets, "packet")}, ${count(r.hops, "hop")}`)) : hasSends ? "none used" : "not recorded"}</dd>
      <dt>Protocol events, last 5 s</dt>
      <dd>{tables.remarks.length > 0 ? (tables.remarks.length > MOST_REMARKS ? `the last ${MOST_REMARKS} of ${tables.remarks.length}: ` : "") + list(tables.remarks.slice(-MOST_REMARKS).reverse().map((r) => `${String(r["what"]).replaceAll("_", " ")} ${named(String(r["about"]))} (${ago(t, Number(r["time_ns"]))})`)) : "none"}</dd>
    </>
  );
}

/** Of a real node its place comes from a receiver: how good it is, and when the last report came. */
function Fix({ node, t, gps }: { node: number; t: number; gps: Tables["gps"] }) {
  if (state.info.value?.world !== "field") return <><dt>GPS fix</dt><dd>none: the position is exact, from the scenario</dd></>;
  const since = state.motionAt(t)?.since(node, t) ?? null;
  if (!gps) return <><dt>GPS fix</dt><dd>{since === null ? "none yet" : `${showMoment(since)}, ${ago(t, since)}; quality not recorded`}</dd></>;
  const { receiver, told } = gps, then = Number(receiver?.["time_ns"]), quality = receiver ? qualityOf(receiver) : null;
  const isLost = receiver !== null && receiver["latitude_deg"] === null;
  return (
    <>
      <dt>GPS fix</dt>
      <dd class="fix">{!quality ? "no report from a receiver yet" : isLost ? "✕ the receiver has no position" : fixInWords(quality)}</dd>
      <dt>Last report</dt>
      <dd>{!quality ? "–" : `${showMoment(then)}, ${ago(t, then)}${quality.time_unix_s === null ? "" : `; measured ${takenAt(quality.time_unix_s)}`}`}</dd>
      {told && <><dt>Override</dt><dd>{`position set at ${showMoment(Number(told["time_ns"]))}; takes precedence over the receiver`}</dd></>}
    </>
  );
}
