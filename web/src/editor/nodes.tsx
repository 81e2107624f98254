// The nodes in numbers: what the map shows can be read and done here, too.

import { useState } from "preact/hooks";
import { addKnot, addNodes, speed } from "./canvas";
import * as doc from "./document";
import { Choice, NumberField, TextField } from "./fields";
import { Own } from "./interfaces";
import { arrivals, cm, generate, type Generator, inDegrees, type Json, list, member, MOST_GENERATED, type NodeTrack, type Place, shifted } from "./model";

const MOST_LISTED = 100;

const moved = (node: number, track: NodeTrack, label: string) => void doc.edit(label, [{ op: "track", node, track }]);

export function Nodes() {
  const [wanted, want] = useState("");
  const d = doc.drawn.value;
  const needle = wanted.trim().toLowerCase();
  const all = (d?.names ?? []).map((name, n) => ({ name, n })).filter(({ name }) => name.toLowerCase().includes(needle));
  const can = doc.drawable.value;
  return (
    <details open>
      <summary>Nodes ({d?.names.length ?? 0})</summary>
      {d && d.names.length > 20 && <label class="find">Find <input type="search" value={wanted} onInput={(e) => want(e.currentTarget.value)} /></label>}
      {!can && doc.view.value.tree && (
        <p class="note">The positions come from <code>{String((doc.view.value.tree["movement"] as { kind?: string })?.kind ?? "movement")}</code> and are read-only.{" "}
          <button type="button" disabled={!d} onClick={() => void doc.edit("Convert the movement to waypoints", [{ op: "convert" }])}>Convert to waypoints</button>
        </p>
      )}
      {all.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of nodes">
          <table class="nodes">
            <thead><tr><th scope="col">Node</th><th scope="col">Start x, m</th><th scope="col">Start y, m</th></tr></thead>
            <tbody>{all.slice(0, MOST_LISTED).map(({ n }) => <Row key={n} node={n} can={can} />)}</tbody>
          </table>
        </div>
      )}
      {all.length > MOST_LISTED && <p class="note">The first {MOST_LISTED}; find others by name.</p>}
      {(d?.names.length ?? 0) === 0 && can && !doc.view.value.problem?.line && <p class="note">No nodes yet. Choose <b>Add nodes</b> and click on the map, or use a generator below.</p>}
      <div class="row">
        <button type="button" disabled={!can} onClick={() => void addNodes([{ start: centre() }], "Add a node")}>Add a node</button>
        <button type="button" disabled={!can || doc.chosen.value.length === 0} onClick={remove}>Delete {doc.chosen.value.length > 1 ? `${doc.chosen.value.length} nodes` : ""}</button>
        <button type="button" onClick={() => doc.choose((d?.names ?? []).map((_, n) => n))}>Select all</button>
      </div>
    </details>
  );
}

function centre(): Place {
  const c = doc.camera.value;
  return c ? { x: Math.round(c.x), y: Math.round(c.y) } : { x: 0, y: 0 };
}

export function remove(): void {
  const nodes = doc.chosen.value;
  if (nodes.length === 0) return;
  void doc.edit(nodes.length === 1 ? `Delete node ${doc.nodeName(nodes[0])}` : `Delete ${nodes.length} nodes`, [{ op: "delete", nodes }]).then((done) => { if (done) doc.choose([]); });
}

let clipboard: NodeTrack[] = [];

export function copy(): void {
  const tree = doc.view.value.tree, inMetres = doc.chosen.value.filter((n) => !tree || !inDegrees(tree, n));
  if (inMetres.length < doc.chosen.value.length) doc.complain("Trajectories in degrees can only be copied in the text");
  clipboard = inMetres.flatMap((n) => doc.track(n) ?? []);
  if (clipboard.length > 0) doc.said.value = `Copied ${clipboard.length === 1 ? "a node" : `${clipboard.length} nodes`}`;
}

/** Beside the ones that were copied, so that both can be seen. */
export function paste(): void {
  const c = doc.camera.value;
  if (clipboard.length === 0 || !c || !doc.drawable.value) return;
  const by = Math.max(1, Math.round(40 / c.scale));
  clipboard = clipboard.map((t) => shifted(t, by, -by));
  void addNodes(clipboard, clipboard.length === 1 ? "Paste a node" : `Paste ${clipboard.length} nodes`);
}

function Row({ node, can }: { node: number; can: boolean }) {
  const track = doc.track(node, doc.shown.value);
  const isChosen = doc.chosen.value.includes(node);
  const name = doc.nodeName(node);
  if (!track) return null;
  const isFree = can && doc.heldBy(node) === null;
  // What can only be looked at is shown to the centimetre.
  const metres = (v: number) => (isFree ? v : cm(v));
  const set = (key: "x" | "y") => (v: number | null) => {
    if (v !== null) moved(node, { ...track, start: { ...track.start, [key]: v } }, `Move node ${name}`);
  };
  return (
    <tr class={isChosen ? "selected" : ""}>
      <th scope="row">
        <button type="button" aria-pressed={isChosen} onClick={(e) => {
          const others = e.shiftKey || e.ctrlKey ? doc.chosen.value.filter((n) => n !== node) : [];
          doc.choose(isChosen && others.length === doc.chosen.value.length - 1 ? others : [...others, node]);
        }}>{name}</button>
      </th>
      <td><NumberField label={`Start x of node ${name}, metres`} value={metres(track.start.x)} disabled={!isFree} onCommit={set("x")} /></td>
      <td><NumberField label={`Start y of node ${name}, metres`} value={metres(track.start.y)} disabled={!isFree} onCommit={set("y")} /></td>
    </tr>
  );
}

export function Trajectory() {
  const [node] = doc.chosen.value;
  const track = doc.chosen.value.length === 1 ? doc.track(node, doc.shown.value) : null;
  if (!track) return null;
  const name = doc.nodeName(node), held = doc.heldBy(node), can = doc.drawable.value && held === null;
  const tree = doc.view.value.tree, degrees = tree && inDegrees(tree, node) ? list(member(list(member(tree["movement"], "tracks"))[node], "waypoints")) : null;
  const waypoints = track.waypoints ?? [], when = arrivals(track);
  const put = (label: string, changed: Partial<NodeTrack>) => moved(node, { ...track, ...changed }, label);
  const knot = (k: number, changed: object) => put(`Change waypoint ${k + 1} of node ${name}`, { waypoints: waypoints.map((w, i) => (i === k ? { ...w, ...changed } : w)) });
  const cell = (k: number, words: string, value: number, commit: (v: number) => void, min?: number) => (
    <td><NumberField label={`${words} of waypoint ${k + 1}`} value={value} min={min} disabled={!can} onCommit={(v) => { if (v !== null) commit(v); }} /></td>
  );
  const last = waypoints.at(-1)?.at ?? track.start;
  return (
    <details open>
      <summary>Node {name}</summary>
      <div class="fields">
        <TextField visible label="Name" value={name === String(node) ? "" : name} placeholder={String(node)} onCommit={(v) => void doc.edit(`Name node ${node}`, [{ op: "name", node, name: v.trim() === "" ? null : v.trim() }])} />
        <NumberField visible label="Height z, m" value={can ? track.start.z ?? 0 : cm(track.start.z ?? 0)} disabled={!can} onCommit={(v) => put(`Move node ${name}`, { start: { ...track.start, z: v ?? 0 } })} />
        <NumberField visible label="Pause at the start, s" min={0} value={track.pause_s ?? 0} disabled={!can} onCommit={(v) => put(`Pause of node ${name}`, { pause_s: v ?? 0 })} />
      </div>
      <h3>Trajectory</h3>
      {held !== null && <p class="note">{held}.</p>}
      {degrees ? <Degrees waypoints={degrees} /> : waypoints.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of waypoints">
          <table class="nodes knots">
            <thead><tr><th scope="col">Waypoint</th><th scope="col">x, m</th><th scope="col">y, m</th><th scope="col">Speed, m/s</th><th scope="col">Pause, s</th><th scope="col">Arrival</th><td /></tr></thead>
            <tbody>
              {waypoints.map((w, k) => (
                <tr key={k}>
                  <th scope="row">{k + 1}</th>
                  {cell(k, "x", w.at.x, (x) => knot(k, { at: { ...w.at, x } }))}
                  {cell(k, "y", w.at.y, (y) => knot(k, { at: { ...w.at, y } }))}
                  {cell(k, "Speed", w.speed_mps, (v) => knot(k, { speed_mps: v }), 0.001)}
                  {cell(k, "Pause", w.pause_s ?? 0, (v) => knot(k, { pause_s: v }), 0)}
                  <td>{when[k].toFixed(1)} s</td>
                  <td><button type="button" disabled={!can} aria-label={`Delete waypoint ${k + 1}`} title="Delete" onClick={() => put(`Delete waypoint ${k + 1} of node ${name}`, { waypoints: waypoints.filter((_, i) => i !== k) })}>✕</button></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="row">
        <NumberField visible label="Speed to the next waypoint, m/s" min={0.001} value={speed.value} onCommit={(v) => { if (v !== null) speed.value = v; }} />
        <button type="button" disabled={!can} onClick={() => void addKnot(node, last.x + 100, last.y)}>Add a waypoint</button>
      </div>
      <Own node={node} />
    </details>
  );
}

/** Waypoints in degrees, to look at. */
function Degrees({ waypoints }: { waypoints: Json[] }) {
  const number = (v: Json | undefined) => (typeof v === "number" ? v : "–");
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of waypoints">
      <table class="nodes knots">
        <thead><tr><th scope="col">Waypoint</th><th scope="col">Latitude, °</th><th scope="col">Longitude, °</th><th scope="col">Speed, m/s</th><th scope="col">Pause, s</th></tr></thead>
        <tbody>
          {waypoints.map((w, k) => {
            const at = member(w, "at");
            return <tr key={k}><th scope="row">{k + 1}</th><td>{number(member(at, "lat"))}</td><td>{number(member(at, "lon"))}</td><td>{number(member(w, "speed_mps"))}</td><td>{number(member(w, "pause_s") ?? 0)}</td></tr>;
          })}
        </tbody>
      </table>
    </div>
  );
}

const KINDS: [Generator["kind"], string][] = [["grid", "Grid"], ["line", "Line"], ["random", "Random"], ["convoy", "Convoy"]];
const NUMBERS: [keyof Generator, string, Generator["kind"][]][] = [
  ["count", "Nodes", ["grid", "line", "random", "convoy"]], ["x", "x of the first, m", ["grid", "line", "convoy"]], ["y", "y of the first, m", ["grid", "line", "convoy"]],
  ["x", "West edge x, m", ["random"]], ["y", "South edge y, m", ["random"]],
  ["spacing", "Spacing, m", ["grid", "line", "convoy"]], ["width", "Width, m", ["random"]], ["height", "Height, m", ["random"]],
  ["heading", "Heading, ° from north", ["line", "convoy"]], ["speed", "Speed, m/s", ["convoy"]], ["length", "Distance to drive, m", ["convoy"]],
];

export function Generators() {
  const [g, set] = useState<Generator>({ kind: "grid", count: 9, x: 0, y: 0, spacing: 150, width: 1500, height: 300, heading: 90, speed: 10, length: 1000 });
  const make = () => {
    const tracks = generate(g, Math.random);
    void addNodes(tracks, `Generate ${tracks.length === 1 ? "a node" : `${tracks.length} nodes`}: ${g.kind}`).then(doc.fitAll);
  };
  const limits = (key: keyof Generator) => (key === "count" ? { min: 1, max: MOST_GENERATED, step: "1" } : key === "speed" ? { min: 0.001 } : {});
  return (
    <details>
      <summary>Generate nodes</summary>
      <div class="fields">
        <Choice visible label="Layout" value={g.kind} options={KINDS} onCommit={(kind) => set({ ...g, kind: kind as Generator["kind"] })} />
        {NUMBERS.filter(([, , kinds]) => kinds.includes(g.kind)).map(([key, label]) => (
          <NumberField visible key={label} label={label} value={g[key] as number} {...limits(key)} onCommit={(v) => { if (v !== null) set({ ...g, [key]: v }); }} />
        ))}
      </div>
      <button type="button" disabled={!doc.drawable.value} onClick={make}>Generate</button>
    </details>
  );
}
