// Who sends what to whom. Flows are numbered from 0, as in a run's tables.

import { tool } from "./canvas";
import * as doc from "./document";
import { Choice, NumberField } from "./fields";
import { endsOf, type Json, list, member, type Operation, type Step } from "./model";

/** Kinds that the table can make; others are shown, and edited in the text. */
const KINDS: [string, string][] = [["cbr", "UDP at a constant rate"], ["poisson", "UDP, Poisson"], ["ping", "Ping"], ["tcp", "TCP"]];
/** The number that says how much is sent, by kind; what it is called, and what it is without a word. */
const AMOUNT: Record<string, [string, string, string]> = { cbr: ["rate_pps", "Packets per second", "4"], poisson: ["rate_pps", "Packets per second", "4"], ping: ["interval_s", "Seconds between requests", "1"] };

const set = (label: string, path: Step[], value: Json): void => {
  const operation: Operation = value === null ? { op: "remove", path } : { op: "set", path, value };
  void doc.edit(label, [operation]);
};

function Flow({ entry, index }: { entry: Json; index: number }) {
  const kind = String(member(entry, "kind") ?? "");
  const names = doc.drawn.value?.names ?? [];
  const nodes = names.map((name, n): [string, string] => [String(n), name]);
  const at = (key: string): Step[] => ["traffic", index, key];
  const label = `Change flow ${index}`;
  const amount = AMOUNT[kind];
  const numberOf = (key: string) => { const v = member(entry, key); return typeof v === "number" ? v : null; };
  // A name stays a name, a number a number, unless another node is chosen.
  const end = (key: "src" | "dst", extra: [string, string][] = []) => {
    const now = member(entry, key);
    const value = typeof now === "string" && names.includes(now) ? String(names.indexOf(now)) : String(now ?? "");
    return <Choice label={`${key === "src" ? "Source" : "Destination"} of flow ${index}`} value={value} options={[...nodes, ...extra]} onCommit={(v) => set(label, at(key), v === "all" ? v : Number(v))} />;
  };
  const isKnown = member(entry, "src") !== undefined && member(entry, "dst") !== undefined;
  return (
    <tr>
      <th scope="row">{index}</th>
      {isKnown ? (
        <>
          <td>{end("src")}</td>
          <td>{end("dst", kind === "cbr" || kind === "poisson" ? [["all", "all"]] : [])}</td>
          <td>{KINDS.find(([k]) => k === kind) ? kind : <span title="Edit the text to change it">{kind}</span>}</td>
          <td><NumberField label={`Start of flow ${index}, seconds`} value={numberOf("start_s")} min={0} empty placeholder="0" onCommit={(v) => set(label, at("start_s"), v)} /></td>
          <td><NumberField label={`Stop of flow ${index}, seconds`} value={numberOf("stop_s")} min={0} empty placeholder="end" onCommit={(v) => set(label, at("stop_s"), v)} /></td>
          <td>{amount && <NumberField label={`${amount[1]} of flow ${index}`} value={numberOf(amount[0])} min={0} empty placeholder={amount[2]} onCommit={(v) => set(label, at(amount[0]), v)} />}</td>
          <td>{kind !== "tcp" && <NumberField label={`Bytes per packet of flow ${index}`} value={numberOf("payload_bytes")} min={0} step="1" empty placeholder={kind === "ping" ? "56" : "64"} onCommit={(v) => set(label, at("payload_bytes"), v)} />}</td>
        </>
      ) : <td colSpan={7}>{kind}: edit it in the text</td>}
      <td><button type="button" aria-label={`Delete flow ${index}`} title="Delete" onClick={() => void doc.edit(`Delete flow ${index}`, [{ op: "remove", path: ["traffic", index] }])}>✕</button></td>
    </tr>
  );
}

export function Flows() {
  const flows = list(doc.view.value.tree?.["traffic"]);
  const count = doc.drawn.value?.names.length ?? 0;
  // A node that was just added is selected, too; nobody chose it as a source.
  const [from, to] = endsOf(tool.value === "node" && doc.chosen.value.length < 2 ? [] : doc.chosen.value, count);
  const nodes = (doc.drawn.value?.names ?? []).map((name, n): [string, string] => [String(n), name]);
  const add = (kind: string) => {
    if (from === null || to === null) {
      doc.complain(`${doc.nodeName(from ?? 0)} is the source of the new flow: choose its destination in “New flow”, or select a second node (Shift+click)`);
      return;
    }
    void doc.edit(`Add a flow: ${kind}`, [{ op: "push", path: ["traffic"], value: { kind, src: from, dst: to } }]);
  };
  return (
    <details open>
      <summary>Flows ({flows.length})</summary>
      {flows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of flows">
          <table class="nodes flows">
            <thead><tr><td /><th scope="col">From</th><th scope="col">To</th><th scope="col">Kind</th><th scope="col">Start, s</th><th scope="col">Stop, s</th><th scope="col" title="Packets per second; for ping, seconds between requests">Rate, 1/s</th><th scope="col">Bytes</th><td /></tr></thead>
            <tbody>{flows.map((f, i) => <Flow key={i} entry={f} index={i} />)}</tbody>
          </table>
        </div>
      )}
      {count >= 2 && (
        <div class="row">
          <label class="field"><span>New flow from</span>
            <select aria-label="Source of the new flow" value={String(from)} onChange={(e) => doc.choose([Number(e.currentTarget.value), ...(to === null || to === Number(e.currentTarget.value) ? [] : [to])])}>{nodes.map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>
          </label>
          <label class="field"><span>to</span>
            <select aria-label="Destination of the new flow" value={to === null ? "" : String(to)} onChange={(e) => doc.choose([from ?? 0, Number(e.currentTarget.value)])}>{to === null && <option value="">choose a node</option>}{nodes.filter(([v]) => v !== String(from)).map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>
          </label>
        </div>
      )}
      <div class="row">
        {KINDS.map(([kind, words]) => <button key={kind} type="button" disabled={count < 2} onClick={() => add(kind)} title={words}>+ {kind}</button>)}
      </div>
      <p class="note">{count < 2 ? "A flow needs two nodes." : "A new flow connects the two selected nodes; if none are selected, the first and the last."}</p>
    </details>
  );
}
