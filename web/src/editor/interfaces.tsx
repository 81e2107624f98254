// Further radios and wires, and who has which.

import type { Schema } from "./document";
import * as doc from "./document";
import { add, Entry, Keys, opened, Section } from "./entries";
import { at, Key, put } from "./key";
import { type Json, list, member, type Step, type Table } from "./model";
import { type Defs, members, referenceTo, resolve, toggled } from "./schema";
import { Keys as SearchedKeys } from "./settings";
import { wireName } from "./spans";

/** Rows of the table at most: those of the selected nodes first. */
const MOST_ROWS = 40;
/** The three channels of 802.11b that do not overlap. */
const CHANNELS = [1, 6, 11];

interface Interface { path: Step[]; name: string; entry: Json; isWire: boolean }

/** The interfaces of the text, in the order of their numbers. */
export function interfaces(tree: Table | null): Interface[] {
  if (!tree) return [];
  const radio = (tree["radio"] ?? {}) as Json;
  const radios = [{ path: ["radio"], entry: radio }, ...list(tree["radios"]).map((entry, i) => ({ path: ["radios", i], entry }))] as { path: Step[]; entry: Json }[];
  return [
    ...radios.map(({ path, entry }, i) => ({ path, entry, isWire: false, name: String(member(entry, "name") ?? (i === 0 ? "radio" : `radio${i}`)) })),
    ...list(tree["wires"]).map((entry, i) => ({ path: ["wires", i] as Step[], entry, isWire: true, name: wireName(entry, i) })),
  ];
}

function Who() {
  const names = doc.drawn.value?.names ?? [], all = interfaces(doc.view.value.tree);
  const chosen = doc.chosen.value;
  const rows = [...chosen, ...[...names.keys()].filter((n) => !chosen.includes(n))].slice(0, MOST_ROWS).sort((a, b) => a - b);
  if (all.length < 2 || names.length === 0) return null;
  const has = all.map((i) => members(i.entry, names));
  const toggle = (k: number, node: number) => {
    const { path, entry, isWire, name } = all[k], now = toggled(entry, names, node, isWire);
    const label = `${has[k].has(node) ? "Remove" : "Add"} node ${names[node]} ${has[k].has(node) ? "from" : "to"} ${name}`;
    void doc.edit(label, [now === null ? { op: "remove", path: [...path, "nodes"] } : { op: "set", path: [...path, "nodes"], value: now }]);
  };
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Which node has which interface">
        <table class="nodes who">
          <thead><tr><th scope="col">Node</th>{all.map((i) => <th key={i.name} scope="col">{i.name}</th>)}</tr></thead>
          <tbody>{rows.map((n) => (
            <tr key={n}><th scope="row">{names[n]}</th>{all.map((i, k) => (
              <td key={i.name}><input type="checkbox" aria-label={`Node ${names[n]} has ${i.name}`} checked={has[k].has(n)} onClick={(e) => { e.preventDefault(); toggle(k, n); }} /></td>
            ))}</tr>
          ))}</tbody>
        </table>
      </div>
      {names.length > rows.length && <p class="note">{rows.length} of {names.length} nodes; selected nodes are always listed.</p>}
    </>
  );
}

/** A radio's own keys, then those of its preset. */
function Radio({ path, schema, defs }: { path: Step[]; schema: Schema; defs: Defs }) {
  const radio = doc.forms.value!.radio;
  const preset = String(member(at(path), "preset") ?? schema.properties?.["preset"]?.default ?? "");
  const values = radio.sets.find((s) => s.name === preset)?.values ?? {};
  return (
    <>
      <Keys path={path} schema={{ ...schema, properties: { ...schema.properties, preset: { ...schema.properties?.["preset"], enum: radio.sets.map((s) => s.name) } } }} defs={defs} except={["site"]} />
      <details class="more"><summary>All settings</summary><SearchedKeys path={path} schema={radio.schema} values={values} wanted="" /></details>
    </>
  );
}

function newRadio(): Table {
  const tree = doc.view.value.tree, names = doc.drawn.value?.names ?? [], chosen = doc.chosen.value;
  const taken = interfaces(tree).flatMap(({ entry }) => { const c = member(entry, "channel"); return typeof c === "number" ? [c] : []; });
  const channel = CHANNELS.find((c) => !taken.includes(c)) ?? 36;
  return { preset: channel === 36 ? "80211g" : "80211b", channel, ...(chosen.length > 0 ? { nodes: chosen.map((n) => referenceTo(n, names)) } : {}) };
}

/** A wire among nodes; null for fewer than two. */
export function newWire(nodes: number[]): Table | null {
  const names = doc.drawn.value?.names ?? [];
  return nodes.length < 2 ? null : { nodes: nodes.map((n) => referenceTo(n, names)) };
}

export const wire = (nodes: number[]): void => {
  const entry = newWire(nodes);
  if (entry) void add(["wires"], entry, `Wire ${nodes.map(doc.nodeName).join(" – ")}`);
};

export function Interfaces() {
  const scenario = doc.forms.value?.scenario, tree = doc.view.value.tree;
  if (!scenario?.properties || !tree) return null;
  const defs = scenario.$defs ?? {}, all = interfaces(tree), chosen = doc.chosen.value;
  const count = doc.drawn.value?.names.length ?? 0;
  const wireSchema = resolve(resolve(scenario.properties["wires"], defs).items ?? {}, defs);
  const isOpen = ["radio.", "radios[", "wires["].some((s) => opened.value?.startsWith(s)) || opened.value === "radio";
  return (
    <Section title={`Interfaces (${all.length})`} isOpen={isOpen}>
      <p class="note">Each radio has its own channel; a wire connects two or more nodes. Draw a wire with the tool <b>Wire</b>, or select its nodes.</p>
      <Who />
      {all.map(({ path, name, entry, isWire }) => (
        <Entry key={path.join()} path={path} words={`${name} · ${isWire ? `wire, ${list(member(entry, "nodes")).map(String).join(" – ")}` : `radio, ${String(member(entry, "preset") ?? defs["Radio"]?.properties?.["preset"]?.default ?? "")}${member(entry, "channel") === undefined ? "" : `, channel ${String(member(entry, "channel"))}`}`}`}>
          {isWire ? <Keys path={path} schema={wireSchema} defs={defs} /> : <Radio path={path} schema={defs["Radio"] ?? {}} defs={defs} />}
        </Entry>
      ))}
      <div class="row">
        <button type="button" disabled={count === 0} onClick={() => void add(["radios"], newRadio(), "Add a radio")}>+ radio{chosen.length > 0 ? ` for the ${chosen.length} selected` : ""}</button>
        <button type="button" disabled={chosen.length < 2} onClick={() => wire(chosen)}>+ wire{chosen.length > 1 ? ` among the ${chosen.length} selected` : ""}</button>
      </div>
      {chosen.length < 2 && <p class="note">Select two or more nodes to add a wire.</p>}
    </Section>
  );
}

/** What one node has of its own: card, address, battery. */
export function Own({ node }: { node: number }) {
  const scenario = doc.forms.value?.scenario, tree = doc.view.value.tree;
  const defs = scenario?.$defs ?? {}, schema = defs["Node"], energy = defs["Energy"];
  if (!schema?.properties || !energy || !tree) return null;
  const entries = list(member(tree["nodes"], "node"));
  const own = entries.findIndex((e) => member(e, "id") === node), k = own < 0 ? entries.length : own;
  const path: Step[] = ["nodes", "node", k];
  const first = own < 0 ? [{ op: "push" as const, path: ["nodes", "node"] as Step[], value: { id: node } }] : [];
  const cards = doc.forms.value!.radio.sets.map((s) => s.name ?? "");
  const { card, mains, ...rest } = schema.properties;
  const shown: Record<string, Schema> = { card: { ...card, type: "string", enum: cards }, mains, address: rest["address"], address6: rest["address6"] };
  const battery = member(tree["energy"], "initial_j") !== undefined || entries.some((e) => member(e, "energy") !== undefined);
  return (
    <details class="more">
      <summary>Node settings: card, address, battery</summary>
      {Object.entries(shown).filter(([name]) => name !== "mains" || battery).map(([name, s]) => <Key key={name} path={path} name={name} schema={s} defs={defs} first={first} />)}
      <h3>Battery</h3>
      {Object.entries(energy.properties ?? {}).map(([name, s]) => <Key key={name} path={[...path, "energy"]} name={name} schema={s} defs={defs} first={first} />)}
      {own >= 0 && <button type="button" onClick={() => put(path, null)}>Remove all</button>}
    </details>
  );
}
