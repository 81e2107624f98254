// The keys of the run, the radio and the protocol, with what they mean: from the schema by which the file is read.

import { useState } from "preact/hooks";
import type { Schema, Section } from "./document";
import * as doc from "./document";
import { Choice } from "./fields";
import { Key } from "./key";
import { member, type Step } from "./model";
import { resolve } from "./schema";

const MOST_KEYS = 60;

export function Keys({ path, schema, values, wanted }: { path: Step[]; schema: Schema; values: Record<string, unknown>; wanted: string }) {
  const defs = schema.$defs ?? {};
  const keys = Object.entries(schema.properties ?? {}).map(([name, raw]) => ({ name, raw, s: resolve(raw, defs) }))
    .filter(({ name, s }) => `${name} ${s.description ?? ""}`.toLowerCase().includes(wanted));
  return (
    <>
      {keys.slice(0, MOST_KEYS).map(({ name, raw }) => <Key key={name} path={path} name={name} schema={raw} defs={defs} usual={values[name]} />)}
      {keys.length > MOST_KEYS && <p class="note">{keys.length - MOST_KEYS} more; search for them.</p>}
      {keys.length === 0 && wanted !== "" && <p class="note">No setting matches “{wanted}”.</p>}
    </>
  );
}

function Part({ title, path, choose, section, set, wanted }: {
  title: string; path: Step[]; choose: preact.ComponentChildren; section: Section | undefined; set: string | undefined; wanted: string;
}) {
  const values = section?.sets.find((s) => s.name === set)?.values ?? section?.sets[0]?.values ?? {};
  return (
    <details open={wanted !== ""}>
      <summary>{title}</summary>
      <div class="fields">{choose}</div>
      {section && <Keys path={path} schema={section.schema} values={values} wanted={wanted} />}
    </details>
  );
}

export function Settings() {
  const [wanted, want] = useState("");
  const forms = doc.forms.value, tree = doc.view.value.tree, d = doc.drawn.value;
  if (!forms || !tree) return null;
  const run = forms.scenario.properties ?? {};
  const top = Object.fromEntries(["name", "seed", "duration_s"].map((k) => [k, run[k]]));
  const usualPreset = forms.scenario.$defs?.["Radio"]?.properties?.["preset"]?.default;
  const preset = String(member(tree["radio"], "preset") ?? d?.preset ?? usualPreset ?? "");
  const name = String(member(tree["protocol"], "name") ?? forms.protocol);
  const section = forms.protocols.find((p) => p.name === name);
  const profile = String(member(tree["protocol"], "profile") ?? section?.sets[0]?.name ?? "");
  const about = (s: { name?: string; about?: string }): [string, string] => [s.name ?? "", `${s.name}: ${s.about ?? ""}`];
  const set = (label: string, path: Step[]) => (value: string) => void doc.edit(label, [{ op: "set", path, value }]);
  const needle = wanted.trim().toLowerCase();
  return (
    <>
      <label class="find settings">Find a setting <input type="search" value={wanted} placeholder="such as power or hop limit" onInput={(e) => want(e.currentTarget.value)} /></label>
      <details open>
        <summary>Run</summary>
        <Keys path={[]} schema={{ properties: top, $defs: forms.scenario.$defs }} values={{ name: d?.name, duration_s: d?.duration_s }} wanted={needle} />
      </details>
      <Part title={`Radio: ${preset}`} path={["radio"]} section={forms.radio} set={preset} wanted={needle}
        choose={<Choice visible label="Preset" value={preset} options={forms.radio.sets.map(about)} onCommit={set("Choose a radio", ["radio", "preset"])} />} />
      <Part title={`Protocol: ${name}, profile ${profile}`} path={["protocol"]} section={section} set={profile} wanted={needle}
        choose={<>
          <Choice visible label="Protocol" value={name} options={forms.protocols.map(about)} onCommit={(v) => void doc.edit("Choose a protocol", [{ op: "remove", path: ["protocol", "profile"] }, { op: "set", path: ["protocol", "name"], value: v }])} />
          <Choice visible label="Profile" value={profile} options={(section?.sets ?? []).map(about)} onCommit={set("Choose a profile", ["protocol", "profile"])} />
        </>} />
    </>
  );
}
