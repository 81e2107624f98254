// What kind of field a key of the scenario has, by the schema by which the file is read. Nothing here touches the page.

import type { Schema } from "./document";
import { type Json, list, member } from "./model";

export type Defs = Record<string, Schema>;
export type FieldKind = "enum" | "boolean" | "number" | "string" | "node" | "nodes" | "numbers" | "words" | "tables" | "table" | "other";
const NODE = "#/$defs/NodeRef";

/** A schema with what its reference and its only variant say. */
export function resolve(schema: Schema, defs: Defs): Schema {
  const target = schema.$ref ? defs[schema.$ref.split("/").at(-1)!] : undefined;
  const variant = (schema.anyOf ?? schema.oneOf)?.find((v) => v.type !== "null");
  if (target) return { ...resolve(target, defs), description: schema.description ?? target.description, ...(schema.default === undefined ? {} : { default: schema.default }) };
  if (schema.anyOf && variant) return { ...resolve(variant, defs), description: schema.description };
  const constants = schema.oneOf?.every((v) => typeof v.const === "string" || v.enum) ? schema.oneOf.flatMap((v) => v.enum ?? [v.const!]) : undefined;
  return constants ? { ...schema, enum: constants } : schema;
}

const typeOf = (s: Schema) => (Array.isArray(s.type) ? s.type.find((t) => t !== "null") : s.type);
const refersToNode = (s: Schema): boolean => s.$ref === NODE || (s.anyOf ?? []).some((v) => v.$ref === NODE);

export function kindOf(schema: Schema, defs: Defs): FieldKind {
  if (refersToNode(schema)) return "node";
  const s = resolve(schema, defs), type = typeOf(s);
  if (s.enum) return "enum";
  if (type === "array" && s.items) {
    if (refersToNode(s.items)) return "nodes";
    const of = resolve(s.items, defs), each = typeOf(of);
    return each === "integer" ? "numbers" : each === "string" ? "words" : each === "object" && of.properties ? "tables" : "other";
  }
  if (type === "object" && s.properties) return "table";
  if (type === "number" || type === "integer") return "number";
  return type === "boolean" || type === "string" ? type : "other";
}

/** What entries of a list can be: one shape, or one for each `kind`. */
export function shapes(items: Schema, defs: Defs): { kind: string | null; schema: Schema }[] {
  const s = items.$ref ? { ...defs[items.$ref.split("/").at(-1)!], description: items.description } : items;
  if (!s.oneOf) return [{ kind: null, schema: s }];
  return s.oneOf.map((v) => {
    const whole = v.$ref ? { ...v, ...defs[v.$ref.split("/").at(-1)!], properties: { ...defs[v.$ref.split("/").at(-1)!]?.properties, ...v.properties } } : v;
    return { kind: whole.properties?.["kind"]?.const ?? null, schema: whole };
  });
}

/** Kinds of attack that answer requests with false replies. */
const FORGE_REPLIES = ["black-hole", "grey-hole", "forged-reply", "sybil"];

/** Whether a key says something for entries of a kind: descriptions begin with the kinds that it is for. */
export function isFor(description: string | undefined, kinds: string[], kind: string): boolean {
  const about = description ?? "";
  if (about.startsWith("For forged replies:")) return FORGE_REPLIES.includes(kind);
  if (!about.startsWith("`")) return true;
  const named = [...about.slice(0, Math.max(0, about.indexOf(":"))).matchAll(/`([^`]+)`/g)].map((m) => m[1]).filter((w) => kinds.includes(w));
  return named.length === 0 || named.includes(kind);
}

/** What an empty field stands for, in the words of its description if the schema itself does not say it. */
export function usual(schema: Schema): string {
  if (schema.default !== undefined && schema.default !== null) return typeof schema.default === "object" ? JSON.stringify(schema.default) : String(schema.default);
  return schema.description?.match(/(?:Default|Without (?:it|one)): (.+?)(?:[,;]|\.(?:\s|$))/)?.[1].replaceAll(/[`"]/g, "") ?? "none";
}

/** A node as the text names it: by its number, or by its name. */
export function nodeOf(reference: Json | undefined, names: string[]): number | null {
  if (typeof reference === "number") return reference;
  const found = typeof reference === "string" ? names.indexOf(reference) : -1;
  return found < 0 ? null : found;
}

/** How a node is written: by its name if it has one. */
export const referenceTo = (node: number, names: string[]): string | number => (names[node] === undefined || names[node] === String(node) ? node : names[node]);

/** Names and numbers that somebody has typed, with commas between them; or the word that is no node. */
export function nodesTyped(typed: string, names: string[]): { nodes: (string | number)[] } | { wrong: string } {
  const words = typed.split(",").map((w) => w.trim()).filter((w) => w !== "");
  const nodes: (string | number)[] = [];
  for (const word of words) {
    const range = word.match(/^(\d+)\s*-\s*(\d+)$/);
    const of = names.indexOf(word);
    if (of >= 0) nodes.push(referenceTo(of, names));
    else if (/^\d+$/.test(word) && Number(word) < names.length) nodes.push(Number(word));
    else if (range && Number(range[1]) <= Number(range[2]) && Number(range[2]) < names.length) {
      for (let n = Number(range[1]); n <= Number(range[2]); n += 1) nodes.push(referenceTo(n, names));
    } else return { wrong: word };
  }
  return { nodes: [...new Set(nodes)] };
}

/** Who has an interface: those of its list, or everybody. */
export function members(entry: Json | undefined, names: string[]): Set<number> {
  const given = member(entry, "nodes");
  if (!Array.isArray(given)) return new Set(names.keys());
  return new Set(list(given).flatMap((r) => nodeOf(r, names) ?? []));
}

/** A list of members with a node more or less, as the text has it; null if everybody is one and the list can go. */
export function toggled(entry: Json | undefined, names: string[], node: number, isWire: boolean): (string | number)[] | null {
  const given = member(entry, "nodes"), has = members(entry, names);
  const was: (string | number)[] = Array.isArray(given) ? (given as (string | number)[]) : [...names.keys()].map((n) => referenceTo(n, names));
  const now = has.has(node) ? was.filter((r) => nodeOf(r, names) !== node) : [...was, referenceTo(node, names)];
  return !isWire && now.length === names.length ? null : now;
}
