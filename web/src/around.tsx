// What the tables say of a node at a moment: whom it heard, its last routes, its queue, its fix, its protocol's remarks.

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { showMoment } from "./clock";
import { heardBy, routesOf } from "./heard";
import * as state from "./state";

/** "Lately" is so long, nanoseconds of the run. */
const LATELY = 5e9;
const MOST_SHOWN = 12, MOST_REMARKS = 6;

interface Tables { last: api.Row | null; sends: api.Row[]; remarks: api.Row[]; hasSends: boolean }

/** The rows of a node up to a moment. */
function useTables(node: number, upTo: number): Tables | null {
  const [got, set] = useState<Tables | null>(null);
  const run = state.runName.value;
  useEffect(() => {
    let current = true;
    const from = Math.max(0, upTo - LATELY), to = upTo + 1;
    const load = async () => {
      if (run === null) return;
      const [last, sends, remarks] = await Promise.all([
        api.rows(run, "sends", { node, to, last: true }), api.rows(run, "sends", { node, from, to }), api.rows(run, "events", { node, from, to }),
      ]);
      // A protocol that writes no such rows has none at the end of the run either.
      const hasSends = last.length > 0 || (await api.rows(run, "sends", { last: true })).length > 0;
      if (current) set({ last: last[0] ?? null, sends, remarks, hasSends });
    };
    load().catch(() => { if (current) set({ last: null, sends: [], remarks: [], hasSends: false }); });
    return () => { current = false; };
  }, [run, node, upTo]);
  return got;
}

const named = (address: string) => {
  const node = state.info.value?.addresses.indexOf(address) ?? -1;
  return node < 0 ? address : state.nameOf(node);
};
const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
const ago = (t: number, then: number) => `${((t - then) / 1e9).toFixed(1)} s ago`;

function list(parts: string[]): string {
  return parts.slice(0, MOST_SHOWN).join(", ") + (parts.length > MOST_SHOWN ? `, and ${parts.length - MOST_SHOWN} more` : "");
}

/** Lines of the list of what is known of a node. */
export function Around({ node, t }: { node: number; t: number }) {
  // While it plays, twice a second of the run is often enough.
  const upTo = state.playing.value ? Math.floor(t / 5e8) * 5e8 : Math.floor(t);
  const tables = useTables(node, upTo);
  const heard = state.stretches ? heardBy(state.stretches, node, t, LATELY) : [];
  const hasReceptions = (state.info.value?.rows ?? 0) > 0;
  return (
    <>
      <dt>Heard, last 5 s</dt>
      <dd>{!hasReceptions ? "not recorded" : heard.length > 0 ? list(heard.map(([n, then]) => `${state.nameOf(n)} (${ago(t, then)})`)) : "nobody sent it anything"}</dd>
      {tables && <Protocol tables={tables} t={t} />}
      <dt>Fix</dt><dd><Fix node={node} t={t} /></dd>
    </>
  );
}

function Protocol({ tables, t }: { tables: Tables; t: number }) {
  const { last, hasSends } = tables;
  const routes = routesOf(tables.sends);
  const none = hasSends ? "nothing sent up to here" : "not recorded (only DSR notes it)";
  return (
    <>
      <dt>Last send</dt>
      <dd>{last ? `${showMoment(Number(last["time_ns"]))}: ${String(last["decision"])}, ${last["next_hop"] ? `by ${named(String(last["next_hop"]))}, ${count(Number(last["hops"]), "hop")}` : "no route yet"}` : none}</dd>
      <dt>Queue then</dt><dd>{last ? count(Number(last["queued"]), "packet") : none}</dd>
      <dt>Round trip</dt><dd>{!last ? none : last["rtt_us"] === null ? "not known then" : `${Number(last["rtt_us"]) / 1000} ms to that neighbour`}</dd>
      <dt>Routes, last 5 s</dt>
      <dd>{routes.length > 0 ? list(routes.map((r) => `by ${named(r.hop)}: ${count(r.packets, "packet")}, ${count(r.hops, "hop")}`)) : hasSends ? "none used" : "not recorded"}</dd>
      <dt>Cache</dt><dd>not recorded: the tables have what was used</dd>
      <dt>Remarks, last 5 s</dt>
      <dd>{tables.remarks.length > 0 ? (tables.remarks.length > MOST_REMARKS ? `the last ${MOST_REMARKS} of ${tables.remarks.length}: ` : "") + list(tables.remarks.slice(-MOST_REMARKS).reverse().map((r) => `${String(r["what"]).replaceAll("_", " ")} ${named(String(r["about"]))} (${ago(t, Number(r["time_ns"]))})`)) : "none"}</dd>
    </>
  );
}

/** Of a real node its place comes from a receiver, and is as old as the last fix. */
function Fix({ node, t }: { node: number; t: number }) {
  if (state.info.value?.world !== "field") return <>none: the place is the scenario's, exactly</>;
  const since = state.motionAt(t)?.since(node, t) ?? null;
  return <>{since === null ? "none up to here" : `${showMoment(since)}, ${ago(t, since)}; its quality is not recorded`}</>;
}
