// What happens to nodes - outages, attacks, orders, programs -, what is recorded, and who has keys.

import * as doc from "./document";
import { List, Single } from "./entries";
import type { Table } from "./model";
import { referenceTo } from "./schema";

/** The selected nodes, or the first, as an entry names them. */
function whom(): Table {
  const names = doc.drawn.value?.names ?? [], chosen = doc.chosen.value.map((n) => referenceTo(n, names));
  return chosen.length > 1 ? { nodes: chosen } : { node: chosen[0] ?? referenceTo(0, names) };
}
const one = () => { const names = doc.drawn.value?.names ?? []; return referenceTo(doc.chosen.value[0] ?? 0, names); };
/** Two: the selected ones, or the first and the last. */
function two(): (string | number)[] {
  const names = doc.drawn.value?.names ?? [], [a, b] = doc.chosen.value;
  return [a ?? 0, b ?? Math.max(0, names.length - 1)].map((n) => referenceTo(n, names));
}
const now = (): number => Math.round(doc.seconds.value * 10) / 10;
const someNodes = (): Table => { const names = doc.drawn.value?.names ?? [], chosen = doc.chosen.value; return chosen.length > 0 ? { nodes: chosen.map((n) => referenceTo(n, names)) } : {}; };

const attack = (kind: string, keys: () => Table = whom) => (): Table => ({ kind, ...keys(), at_s: now() });

export function Events() {
  return (
    <>
      <List section="outages" title="Outages" make={{ "an outage": () => ({ ...whom(), start_s: now(), length_s: 10 }), "random outages": () => ({ ...someNodes(), mean_up_s: 60, mean_down_s: 10 }) }}>
        <p class="note">They are the bars above the clock: drag a bar or its right end, or move it with the arrow keys (with Shift: its end).</p>
      </List>
      <List section="attacks" title="Attacks" make={{
        "black hole": attack("black-hole"), "grey hole": attack("grey-hole", () => ({ ...whom(), share: 0.5 })), wormhole: attack("wormhole", () => ({ nodes: two() })),
        "forged errors": attack("forged-error"), "request flood": attack("request-flood"), jamming: attack("jamming"),
      }} />
      <Single section="energy" title="Batteries" />
      <Single section="security" title="Authentication keys" />
      <List section="stalls" title="Stalled queues" make={{ "a stall": () => ({ node: one(), start_s: now(), length_s: 5 }) }} />
      <List section="routes" title="Static routes" make={{ "a route": () => { const [node, destination] = two(); return { node, destination, via: destination }; } }} />
      <List section="commands" title="Commands" make={{ "purge routes": () => ({ kind: "purge-routes", ...someNodes(), start_s: now() }) }} />
      <List section="programs" title="Programs" make={{ "a program": () => ({ node: one(), start_s: now(), command: ["ping", "-c", "5", "mesh-0"] }) }} />
      <Single section="receptions" title="Reception records" />
      <Single section="captures" title="Captures" />
      <Single section="limits" title="Limits" />
      <Single section="output" title="Other output" />
    </>
  );
}
