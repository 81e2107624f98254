// What stands beside the map of a run under way: one node, its tables as they are now, and what can be done with it.

import { useEffect, useState } from "preact/hooks";
import { Sizes } from "../around";
import { Chart } from "../chart";
import { showMoment } from "../clock";
import { fixInWords, qualityOf, takenAt } from "../fix";
import * as state from "../state";
import * as live from "./follow";

type Row = Record<string, unknown>;
interface Tables { nodes: { tables: Record<string, Row[]>; held: Record<string, number>; rows_left_out: number }[] }

/** Tables are asked for so often while they are shown, milliseconds. */
const TABLES_MS = 1000;
const MOST_ROWS = 100, MOST_REMARKS = 12;

/** What the run answers to a question about a node, again and again while the panel is shown. */
function useAnswer<T>(node: number, what: string): T | null {
  const [answer, set] = useState<T | null>(null);
  const connected = live.connection.value === "connected";
  useEffect(() => {
    let current = connected;
    const look = async () => {
      while (current) {
        const got = await live.ask({ do: what, node: live.numberOf(node) });
        if (current && got) set(got as T);
        await new Promise((done) => setTimeout(done, TABLES_MS));
      }
    };
    void look();
    return () => { current = false; };
  }, [node, what, connected]);
  return answer;
}

interface Where { nodes: { gps?: Row; overridden: boolean }[] }

/** What its receiver says of its place. */
function Receiver({ node }: { node: number }) {
  const own = useAnswer<Where>(node, "position")?.nodes[0];
  if (!own || (!own.gps && state.live.value?.about.world !== "field")) return null;
  const quality = own.gps ? qualityOf(own.gps) : null;
  return (
    <>
      <dt>GPS fix</dt>
      <dd class="fix">{quality ? fixInWords(quality) : own.overridden ? "position set manually" : "no receiver reports a position"}</dd>
      {quality && quality.time_unix_s !== null && <><dt>Last report</dt><dd>measured {takenAt(quality.time_unix_s)}</dd></>}
    </>
  );
}

/** How long its queues and tables were when they were looked at last. */
function Looked({ node, t }: { node: number; t: number }) {
  const look = state.live.value!.lookAt(node, t);
  return <Sizes sizes={(look?.sizes ?? []).map((s) => ({ time_ns: look!.t, what: s.what, count: s.count, interface: s.interface ?? null }))} />;
}

const cell = (v: unknown) => (v === null || v === undefined ? "–" : typeof v === "object" ? (Array.isArray(v) ? v.join(", ") : JSON.stringify(v)) : String(v));

function TableOf({ name, rows }: { name: string; rows: Row[] }) {
  const columns = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  return (
    <details open={rows.length > 0 && rows.length < 8}>
      <summary>{name.replaceAll("_", " ")} ({rows.length})</summary>
      {rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={`Table ${name}`}>
          <table>
            <thead><tr>{columns.map((c) => <th key={c} scope="col">{c.replaceAll("_", " ")}</th>)}</tr></thead>
            <tbody>{rows.slice(0, MOST_ROWS).map((r, i) => <tr key={i}>{columns.map((c) => <td key={c}>{cell(r[c])}</td>)}</tr>)}</tbody>
          </table>
        </div>
      )}
    </details>
  );
}

/** Puts the node somewhere by numbers: what dragging does. */
function Move({ node }: { node: number }) {
  const run = state.live.value!;
  const at = run.at(node, Infinity);
  const [x, setX] = useState(at?.x.toFixed(0) ?? "0"), [y, setY] = useState(at?.y.toFixed(0) ?? "0");
  const go = (e: Event) => {
    e.preventDefault();
    if (x.trim() !== "" && y.trim() !== "" && Number.isFinite(Number(x)) && Number.isFinite(Number(y))) void live.place(node, Number(x), Number(y));
  };
  return (
    <form class="move" onSubmit={go}>
      <label>x, m <input type="number" step="any" value={x} onInput={(e) => setX(e.currentTarget.value)} /></label>{" "}
      <label>y, m <input type="number" step="any" value={y} onInput={(e) => setY(e.currentTarget.value)} /></label>{" "}
      <button type="submit">Move there</button>{" "}
      {run.moved[node] && <button type="button" onClick={() => void live.ask({ do: "release-position", node: live.numberOf(node) })}>Restore its own movement</button>}
    </form>
  );
}

const links = (world: string): [string, string][] => [["down", "Break"], ["up", "Make perfect"], ["model", world === "lab" ? "Use the macfilter" : "Use the radio model"]];

function Link({ node }: { node: number }) {
  const run = state.live.value!;
  const others = run.about.names.map((name, i) => ({ name, i })).filter(({ i }) => i !== node);
  const [to, set] = useState(others[0]?.i ?? 0);
  if (others.length === 0 || run.about.world === "field") return null;
  return (
    <p class="move">
      <label>Link to{" "}
        <select value={String(to)} onChange={(e) => set(Number(e.currentTarget.value))}>
          {others.map(({ name, i }) => <option key={i} value={String(i)}>{name}</option>)}
        </select>
      </label>{" "}
      {links(run.about.world).map(([what, label]) => <><button type="button" onClick={() => void live.ask({ do: "set-link", a: live.numberOf(node), b: live.numberOf(to), state: what })}>{label}</button>{" "}</>)}
    </p>
  );
}

export function LiveNode({ node, t }: { node: number; t: number }) {
  const run = state.live.value!;
  const tables = useAnswer<Tables>(node, "tables");
  void live.news.value;
  const at = run.at(node, t);
  const up = run.up[node];
  const own = tables?.nodes[0];
  const counters = Object.entries(run.counters[node] ?? {});
  return (
    <details open>
      <summary>{state.titleOf(node)}</summary>
      <dl>
        <dt>Address</dt><dd>{run.about.addresses[node]}</dd>
        <dt>Position</dt><dd>{at ? `${at.x.toFixed(1)} m east, ${at.y.toFixed(1)} m north` : "unknown"}{run.moved[node] ? ", set manually" : ""}</dd>
        <dt>Speed</dt><dd>{run.speed(node, t).toFixed(1)} m/s</dd>
        <dt>State</dt><dd>{up ? "up" : "down"}</dd>
        <Receiver node={node} />
        <Looked node={node} t={t} />
        {own && Object.entries(own.held).map(([where, n]) => <><dt>Held: {where.replaceAll("_", " ")}</dt><dd>{n} packets</dd></>)}
      </dl>
      {live.connection.value === "connected" && (
        <>
          {live.canPlace() && <Move key={node} node={node} />}
          <p class="move"><button type="button" onClick={() => void live.ask({ do: up ? "down" : "up", node: live.numberOf(node) })}>{up ? "Take down" : "Bring up"}</button></p>
          <Link key={node} node={node} />
        </>
      )}
      <h3>Events over time</h3>
      <Chart />
      <h3>Current tables</h3>
      {own ? Object.entries(own.tables).map(([name, rows]) => <TableOf key={name} name={name} rows={rows} />) : <p class="note">No data yet.</p>}
      {own && own.rows_left_out > 0 && <p class="note">{own.rows_left_out} rows are left out.</p>}
      <details>
        <summary>Counters ({counters.length})</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="Counters">
          <table><tbody>{counters.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody></table>
        </div>
      </details>
    </details>
  );
}

/** Remarks of protocols, routes, links, programs: what is no packet. */
export function Remarks() {
  void live.news.value;
  const run = state.live.value;
  const node = state.selected.value;
  if (!run) return null;
  const list = run.remarks.filter((r) => node === null || r.row === node).slice(-MOST_REMARKS).reverse();
  return (
    <details open>
      <summary>Routes, links and protocol events</summary>
      <ol class="events">
        {list.map((r, i) => <li key={i}><button type="button" onClick={() => state.jump(r.t)}><time>{showMoment(r.t)}</time> {r.row === null ? "" : `${state.nameOf(r.row)}: `}{r.text}</button></li>)}
      </ol>
      {list.length === 0 && <p class="note">Nothing yet.</p>}
    </details>
  );
}

/** Whether the page hears the run, in words. */
export function LiveState() {
  const now = live.connection.value;
  if (now === "none") return null;
  const words = { connected: "● live", reconnecting: "○ reconnecting ...", ended: "■ ended", none: "" };
  return <span class={`live ${now}`} role="status">{words[now]}</span>;
}
