// Lists of tables of the scenario - radios, wires, outages, attacks, ... - as forms, by the schema by which the file is read.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Schema } from "./document";
import * as doc from "./document";
import { at, Key, put } from "./key";
import { type Json, list, member, named, type Step, type Table } from "./model";
import { Prose } from "./prose";
import { type Defs, isFor, kindOf, resolve, shapes } from "./schema";

/** The entry whose form is open: the one that was made or chosen last. */
export const opened = signal<string | null>(null);

export function open(path: Step[]): void {
  opened.value = named(path);
}

/** Adds an entry at the end of a list, and opens its form. */
export async function add(path: Step[], value: Table, label: string): Promise<void> {
  const count = list(at(path)).length;
  if (await doc.edit(label, [{ op: "push", path, value }])) open([...path, count]);
}

function Nested({ path, name, schema, defs }: { path: Step[]; name: string; schema: Schema; defs: Defs }) {
  const here = [...path, name], s = resolve(schema, defs);
  const items = s.items ? resolve(s.items, defs) : s;
  const first: Table = {};
  for (const key of items.required ?? []) {
    const kind = kindOf(items.properties![key], defs);
    first[key] = kind === "number" ? (key === "start_s" ? Math.round(doc.seconds.value) : list(at(here)).length + 1) : kind === "string" && key === "key" ? secret() : "";
  }
  return (
    <div class="nested">
      <h3>{name} <span class="note"><Prose text={schema.description ?? s.description} /></span></h3>
      {list(at(here)).map((_, i) => (
        <fieldset key={i}>
          <legend>{named([...here, i])}</legend>
          <Keys path={[...here, i]} schema={items} defs={defs} />
          <button type="button" aria-label={`Delete ${named([...here, i])}`} onClick={() => void doc.edit(`Delete ${named([...here, i])}`, [{ op: "remove", path: [...here, i] }])}>Delete</button>
        </fieldset>
      ))}
      <button type="button" aria-label={`+ ${name} to ${named(here)}`} onClick={() => void add(here, first, `Add to ${named(here)}`)}>+ {name}</button>
    </div>
  );
}

/** A new key of 256 bits, in hexadecimal digits. */
const secret = (): string => [...crypto.getRandomValues(new Uint8Array(32))].map((b) => b.toString(16).padStart(2, "0")).join("");

/** The fields of a table. Keys that its kind does not have are left out unless the text has them. */
export function Keys({ path, schema, defs, values = {}, except = [] }: { path: Step[]; schema: Schema; defs: Defs; values?: Record<string, unknown>; except?: string[] }) {
  const now = at(path), kind = String(member(now, "kind") ?? "");
  const kinds = resolve(schema.properties?.["kind"] ?? {}, defs).enum ?? [];
  const all = Object.entries(schema.properties ?? {}).filter(([name]) => !except.includes(name) && !(name === "kind" && kinds.length === 0));
  const shown = all.filter(([name, s]) => member(now, name) !== undefined || isFor(resolve(s, defs).description, kinds, kind));
  const required = schema.required ?? [];
  const rank = ([name]: [string, Schema]) => (name === "kind" ? 0 : required.includes(name) ? 1 : ["node", "nodes"].includes(name) ? 2 : member(now, name) !== undefined ? 3 : 4);
  const ordered = shown.map((e, i) => ({ e, i })).sort((a, b) => rank(a.e) - rank(b.e) || a.i - b.i).map(({ e }) => e);
  return (
    <>
      {ordered.map(([name, s]) => (kindOf(s, defs) === "tables"
        ? <Nested key={name} path={path} name={name} schema={s} defs={defs} />
        : <Key key={name} path={path} name={name} schema={s} defs={defs} usual={values[name]} needed={required.includes(name)} />))}
    </>
  );
}

export function Entry({ path, words, children, warn }: { path: Step[]; words: string; children: preact.ComponentChildren; warn?: string }) {
  const element = useRef<HTMLDetailsElement>(null);
  const isOpen = opened.value === named(path);
  useEffect(() => { if (isOpen) element.current?.scrollIntoView({ block: "nearest" }); }, [isOpen]);
  return (
    <details ref={element} class="entry" open={isOpen} data-path={named(path)}
      onToggle={(e) => { if (e.currentTarget.open) open(path); else if (isOpen) opened.value = null; }}>
      <summary>{words}</summary>
      {warn && <p class="note">{warn}</p>}
      {isOpen && children}
      <div class="row"><button type="button" aria-label={`Delete ${named(path)}`} onClick={() => void doc.edit(`Delete ${named(path)}`, [{ op: "remove", path }])}>Delete</button></div>
    </details>
  );
}

/** What an entry is, in a line. */
export function wordsOf(entry: Json, i: number): string {
  const said = ["kind", "name", "node", "nodes", "nodes_share", "destination", "start_s", "at_s", "length_s", "until_s", "mean_up_s"].flatMap((key) => {
    const v = member(entry, key);
    if (v === undefined) return [];
    const shown = Array.isArray(v) ? `${v.slice(0, 4).map(String).join(", ")}${v.length > 4 ? ", …" : ""}` : String(v);
    const word: Record<string, string> = { node: `node ${shown}`, nodes: `nodes ${shown}`, nodes_share: `share ${shown}`, destination: `to ${shown}`, start_s: `from ${shown} s`, at_s: `from ${shown} s`, length_s: `for ${shown} s`, until_s: `until ${shown} s`, mean_up_s: `at random, mean interval ${shown} s` };
    return [word[key] ?? shown];
  });
  return `${i + 1} · ${said.join(" · ") || "all nodes"}`;
}

/** A section that is a list. `make` says what a new entry of each name is. */
export function List({ section, title, make, children }: { section: string; title: string; make: Record<string, () => Table>; children?: preact.ComponentChildren }) {
  const scenario = doc.forms.value?.scenario, tree = doc.view.value.tree;
  const property = scenario?.properties?.[section];
  if (!scenario || !tree || !property) return null;
  const defs = scenario.$defs ?? {}, entries = list(tree[section]);
  const items = resolve(property, defs).items;
  const of = items ? shapes(items, defs) : [];
  const isOpen = opened.value?.startsWith(`${section}[`) ?? false;
  return (
    <Section title={`${title} (${entries.length})`} isOpen={isOpen}>
      <p class="note"><Prose text={resolve(property, defs).description} /></p>
      {children}
      {entries.map((entry, i) => {
        const kind = member(entry, "kind"), shape = of.find((s) => s.kind === kind) ?? of[0];
        return <Entry key={i} path={[section, i]} words={wordsOf(entry, i)}>{shape && <Keys path={[section, i]} schema={shape.schema} defs={defs} />}</Entry>;
      })}
      <div class="row">
        {Object.entries(make).map(([name, value]) => <button key={name} type="button" disabled={(doc.drawn.value?.names.length ?? 0) === 0} onClick={() => void add([section], value(), `Add ${name}`)}>+ {name}</button>)}
      </div>
    </Section>
  );
}

/** A part of the panel, which opens by itself when something in it is chosen. */
export function Section({ title, isOpen, children }: { title: string; isOpen?: boolean; children: preact.ComponentChildren }) {
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => { if (isOpen && element.current) element.current.open = true; }, [isOpen]);
  return <details ref={element}><summary>{title}</summary>{children}</details>;
}

/** A section that is one table. */
export function Single({ section, title }: { section: string; title: string }) {
  const scenario = doc.forms.value?.scenario, tree = doc.view.value.tree;
  const property = scenario?.properties?.[section];
  if (!scenario || !tree || !property) return null;
  const defs = scenario.$defs ?? {}, schema = resolve(property, defs), isSet = tree[section] !== undefined;
  return (
    <Section title={isSet ? `${title} · set` : title} isOpen={opened.value?.startsWith(`${section}.`)}>
      <p class="note"><Prose text={schema.description} /></p>
      <Keys path={[section]} schema={schema} defs={defs} />
      {isSet && <div class="row"><button type="button" aria-label={`Remove all: ${section}`} onClick={() => put([section], null)}>Remove all</button></div>}
    </Section>
  );
}
