// The keys of the run, the radio and the protocol, with what they mean: from the schema by which the file is read.

import { useState } from "preact/hooks";
import type { Schema, Section } from "./document";
import * as doc from "./document";
import { Choice, NumberField, TextField } from "./fields";
import { type Json, member, type Step } from "./model";

const MOST_KEYS = 60;

function resolve(schema: Schema, defs: Record<string, Schema>): Schema {
  const target = schema.$ref ? defs[schema.$ref.split("/").at(-1)!] : undefined;
  const variant = (schema.anyOf ?? schema.oneOf)?.find((v) => v.type !== "null");
  if (target) return { ...resolve(target, defs), description: schema.description ?? target.description };
  if (schema.anyOf && variant) return { ...resolve(variant, defs), description: schema.description };
  const constants = schema.oneOf?.every((v) => typeof v.const === "string" || v.enum) ? schema.oneOf.flatMap((v) => v.enum ?? [v.const!]) : undefined;
  return constants ? { ...schema, enum: constants } : schema;
}

const typeOf = (s: Schema) => (Array.isArray(s.type) ? s.type.find((t) => t !== "null") : s.type);
const show = (v: unknown) => (v === null || v === undefined ? "none" : typeof v === "object" ? JSON.stringify(v) : String(v));

function Key({ path, name, schema, usual }: { path: Step[]; name: string; schema: Schema; usual: unknown }) {
  const at = [...path, name];
  let now: Json | undefined = doc.view.value.tree ?? undefined;
  for (const step of at) now = member(now, String(step));
  const label = at.join(".");
  const put = (v: Json) => void doc.edit(`${v === null ? "Take out" : "Set"} ${label}`, [v === null ? { op: "remove", path: at } : { op: "set", path: at, value: v }]);
  const kind = typeOf(schema);
  const common = { label: name, visible: true };
  const id = `about-${at.join("-")}`;
  const simple = now === undefined || typeof now !== "object";
  return (
    <div class={now === undefined ? "key" : "key is-set"} role="group" aria-describedby={id}>
      {!simple || !(schema.enum || ["number", "integer", "boolean", "string"].includes(String(kind)))
        ? <p class="field"><span>{name}</span><code>{now === undefined ? show(usual) : JSON.stringify(now)}</code></p>
        : schema.enum || kind === "boolean"
          ? <Choice {...common} value={now === undefined ? "" : String(now)} options={[["", `usual: ${show(usual)}`], ...(schema.enum ?? ["true", "false"]).map((v): [string, string] => [v, v])]} onCommit={(v) => put(v === "" ? null : kind === "boolean" ? v === "true" : v)} />
          : kind === "string"
            ? <TextField {...common} value={String(now ?? "")} placeholder={show(usual)} onCommit={(v) => put(v === "" ? null : v)} />
            : <NumberField {...common} value={typeof now === "number" ? now : null} empty placeholder={show(usual)} onCommit={put} />}
      <p id={id} class="note">{schema.description ?? ""}</p>
    </div>
  );
}

function Keys({ path, schema, values, wanted }: { path: Step[]; schema: Schema; values: Record<string, unknown>; wanted: string }) {
  const keys = Object.entries(schema.properties ?? {}).map(([name, s]) => ({ name, s: resolve(s, schema.$defs ?? {}) }))
    .filter(({ name, s }) => `${name} ${s.description ?? ""}`.toLowerCase().includes(wanted));
  return (
    <>
      {keys.slice(0, MOST_KEYS).map(({ name, s }) => <Key key={name} path={path} name={name} schema={s} usual={values[name] ?? s.default} />)}
      {keys.length > MOST_KEYS && <p class="note">{keys.length - MOST_KEYS} more; search for them.</p>}
      {keys.length === 0 && wanted !== "" && <p class="note">No key here says “{wanted}”.</p>}
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
