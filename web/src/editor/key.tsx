// One key of the scenario: its field, its usual value and what it means.

import type { Schema } from "./document";
import * as doc from "./document";
import { Choice, NumberField, TextField } from "./fields";
import { type Json, list, member, named, type Operation, type Step } from "./model";
import { Prose } from "./prose";
import { type Defs, kindOf, nodeOf, nodesTyped, referenceTo, resolve, usual as usualOf } from "./schema";
import { unitOf } from "./units";

const show = (v: unknown) => (v === null || v === undefined ? "none" : typeof v === "object" ? JSON.stringify(v) : String(v));

/** What stands at a path of the text. */
export function at(path: Step[], from: Json | undefined = doc.view.value.tree ?? undefined): Json | undefined {
  let now = from;
  for (const step of path) now = typeof step === "number" ? list(now)[step] : member(now, step);
  return now;
}

/** Gives a key a value, or takes it out. `first` is done before it, so that there is something to hold it. */
export function put(path: Step[], value: Json, first: Operation[] = []): void {
  const label = named(path);
  void doc.edit(`${value === null ? "Remove" : "Set"} ${label}`, [...first, value === null ? { op: "remove", path } : { op: "set", path, value }]);
}

interface Field { label: string; path: Step[]; first?: Operation[]; hint: string; needed?: boolean }

function NodeField({ label, path, first, hint, needed }: Field) {
  const names = doc.drawn.value?.names ?? [], now = at(path), node = nodeOf(now, names);
  return <Choice visible label={label} value={node === null ? String(now ?? "") : String(node)} options={[...(needed ? [] : [["", `default: ${hint}`] as [string, string]]), ...names.map((name, n): [string, string] => [String(n), name])]}
    onCommit={(v) => put(path, v === "" ? null : referenceTo(Number(v), names), first)} />;
}

function NodesField({ label, path, first, hint }: Field) {
  const names = doc.drawn.value?.names ?? [], now = list(at(path));
  const chosen = doc.chosen.value;
  const commit = (typed: string): void | false => {
    const got = nodesTyped(typed, names);
    if ("nodes" in got) { put(path, got.nodes.length === 0 ? null : got.nodes, first); return undefined; }
    doc.complain(`${named(path)}: ${got.wrong} is not a node; enter names or numbers separated by commas`);
    return false;
  };
  return (
    <>
      <TextField visible label={label} value={now.map(String).join(", ")} placeholder={hint} onCommit={commit} />
      <div class="row beside">
        <button type="button" disabled={chosen.length === 0} title="Use the nodes selected on the map or in the table" aria-label={`Use the ${chosen.length || ""} selected nodes as ${label} of ${named(path.slice(0, -1))}`.replace("  ", " ")}
          onClick={() => put(path, chosen.map((n) => referenceTo(n, names)), first)}>{chosen.length > 0 ? `Use the ${chosen.length} selected` : "Use the selected"}</button>
        {now.length > 0 && <button type="button" title="Select them on the map" aria-label={`Show the nodes of ${named(path.slice(0, -1))}`} onClick={() => doc.choose(now.flatMap((r) => nodeOf(r, names) ?? []))}>Show</button>}
      </div>
    </>
  );
}

function NumbersField({ label, path, first, hint }: Field) {
  const commit = (typed: string): void | false => {
    const all = typed.split(/[\s,]+/).filter((w) => w !== "");
    if (all.every((w) => /^\d+$/.test(w))) { put(path, all.length === 0 ? null : all.map(Number), first); return undefined; }
    doc.complain(`${named(path)}: enter whole numbers separated by commas`);
    return false;
  };
  return <TextField visible label={label} value={list(at(path)).map(String).join(", ")} placeholder={hint} onCommit={commit} />;
}

function WordsField({ label, path, first }: Field) {
  const now = list(at(path)).map(String).join("\n");
  return (
    <label class="field"><span>{label}, one a line</span>
      <textarea key={now} rows={3} defaultValue={now} spellcheck={false}
        onChange={(e) => { const words = e.currentTarget.value.split("\n").filter((w) => w !== ""); put(path, words.length === 0 ? null : words, first); }} />
    </label>
  );
}

/** A key. `needed` is one that cannot be taken out. */
export function Key({ path, name, schema, defs, usual, first, needed }: {
  path: Step[]; name: string; schema: Schema; defs: Defs; usual?: unknown; first?: Operation[]; needed?: boolean;
}) {
  const here = [...path, name], now = at(here), s = resolve(schema, defs), kind = kindOf(schema, defs);
  const hint = usual === undefined ? usualOf(s) : show(usual);
  const id = `about-${here.join("-").replaceAll(/[^\w-]/g, "_")}`;
  const common = { label: name, visible: true } as const, field = { label: name, path: here, first, hint, needed };
  const simple = now === undefined || typeof now !== "object";
  const set = (v: Json) => { if (v !== null || !needed) put(here, v, first); };
  const hasField = kind === "nodes" || kind === "numbers" || kind === "words" ? now === undefined || Array.isArray(now) : simple && kind !== "other" && kind !== "table" && kind !== "tables";
  return (
    <div class={now === undefined ? "key" : "key is-set"} role="group" aria-describedby={id}>
      {!hasField ? <p class="field"><span>{name}</span><code>{now === undefined ? hint : JSON.stringify(now)}</code></p>
        : kind === "node" ? <NodeField {...field} />
        : kind === "nodes" ? <NodesField {...field} />
        : kind === "numbers" ? <NumbersField {...field} />
        : kind === "words" ? <WordsField {...field} />
        : kind === "enum" || kind === "boolean"
          ? <Choice {...common} value={now === undefined ? "" : String(now)} options={[...(needed ? [] : [["", `default: ${hint}`] as [string, string]]), ...(s.enum ?? ["true", "false"]).map((v): [string, string] => [v, v])]} onCommit={(v) => set(v === "" ? null : kind === "boolean" ? v === "true" : v)} />
        : kind === "string"
          ? <TextField {...common} value={String(now ?? "")} placeholder={hint} onCommit={(v) => set(v === "" ? null : v)} />
          : <NumberField {...common} unit={unitOf(name)} value={typeof now === "number" ? now : null} empty={!needed} placeholder={hint} onCommit={set} />}
      <p id={id} class="note"><Prose text={s.description} /></p>
    </div>
  );
}
