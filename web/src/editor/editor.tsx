// The editor's page: toolbar, map, clock, and what stands beside them.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { mode } from "../mode";
import { Canvas, speed, type Tool, tool, zoom } from "./canvas";
import * as doc from "./document";
import "./editor.css";
import { Events } from "./events";
import { Splitter } from "../splitter";
import { NumberField } from "./fields";
import { Flows } from "./flows";
import { Ground } from "./ground";
import { Interfaces } from "./interfaces";
import { withoutPath } from "./model";
import { copy, Generators, Nodes, paste, remove, Trajectory } from "./nodes";
import { Happenings } from "./happenings";
import { Outlook } from "./outlook";
import { Settings } from "./settings";

const TOOLS: [Tool, string, string, string][] = [
  ["select", "V", "Select", "Select and drag nodes and waypoints; drag the background to move the map; Shift+drag for a lasso"],
  ["lasso", "L", "Lasso", "Draw a line around nodes to select them"],
  ["node", "N", "Add nodes", "Click on the map to add a node"],
  ["wire", "W", "Wire", "Drag from one node to another, or click both, to connect them with a wire"],
  ["way", "T", "Trajectory", "Select a node, then click its waypoints one after the other"],
];
const KEYS: [string, string][] = [
  ["V L N W T", "tools: select, lasso, add nodes, wire, trajectory"], ["Ctrl+Z Ctrl+Y", "undo, redo"], ["Ctrl+S", "save"], ["Ctrl+Enter", "run"],
  ["Ctrl+A", "select all nodes"], ["Ctrl+C Ctrl+V", "copy, paste nodes"], ["Delete", "delete the selected nodes"], ["+ − 0", "zoom in, out, show all"],
  ["Esc", "cancel dragging; clear the selection; leave a field"], ["?", "show this list"],
];
const help = signal(false);

/** Keys of the page. What is being typed into has its own undo. */
function pressed(e: KeyboardEvent): boolean {
  const key = e.key.toLowerCase();
  if (e.ctrlKey || e.metaKey) {
    switch (key) {
      case "z": void (e.shiftKey ? doc.redo() : doc.undo()); return true;
      case "y": void doc.redo(); return true;
      case "s": void doc.save(); return true;
      case "a": doc.choose((doc.drawn.value?.names ?? []).map((_, n) => n)); return true;
      case "c": copy(); return false;
      case "v": paste(); return true;
      case "enter": void doc.run(); return true;
      default: return false;
    }
  }
  if (e.altKey) return false;
  const chosen = TOOLS.find(([, letter]) => letter.toLowerCase() === key);
  if (chosen) { tool.value = chosen[0]; doc.said.value = chosen[2]; return true; }
  switch (e.key) {
    case "Delete": case "Backspace": remove(); return true;
    case "+": case "=": zoom(1.5); return true;
    case "-": zoom(1 / 1.5); return true;
    case "0": doc.fitAll(); return true;
    case "Escape": doc.choose([]); return true;
    case "?": help.value = !help.value; return true;
    default: return false;
  }
}

function useKeys(): void {
  useEffect(() => {
    const stop = new AbortController();
    document.addEventListener("keydown", (e) => {
      const at = e.target instanceof HTMLElement ? e.target : document.body;
      const writes = at.matches("textarea, select, input:not([type=range])");
      // These are the page's wherever the focus is; what was typed into a field counts first.
      const everywhere = (e.ctrlKey || e.metaKey) && ["s", "enter"].includes(e.key.toLowerCase());
      if (writes && everywhere) at.blur();
      if (writes && !everywhere) { if (e.key === "Escape") at.blur(); return; }
      if (!help.value && pressed(e)) e.preventDefault();
    }, { signal: stop.signal });
    window.addEventListener("beforeunload", (e) => { if (!doc.isSaved.value && doc.history.value.past.length > 0) e.preventDefault(); }, { signal: stop.signal });
    return () => stop.abort();
  }, []);
}

function Header() {
  const { past, future } = doc.history.value;
  const name = doc.path.value.split("/").at(-1);
  const running = doc.running.value;
  return (
    <header class="editor-head">
      <h1>Wayhop studio</h1>
      <p class="about"><b title={doc.path.value}>{name}</b> · {doc.isSaved.value ? "saved" : "unsaved"}</p>
      <div class="row" role="group" aria-label="Document">
        <button type="button" disabled={past.length === 0} title={past.length > 0 ? `Undo: ${past.at(-1)!.label} (Ctrl+Z)` : "Nothing to undo"} onClick={() => void doc.undo()}>↶ Undo</button>
        <button type="button" disabled={future.length === 0} title={future.length > 0 ? `Redo: ${future[0].label} (Ctrl+Y)` : "Nothing to redo"} onClick={() => void doc.redo()}>↷ Redo</button>
        <button type="button" disabled={doc.isSaved.value} title="Ctrl+S" onClick={() => void doc.save()}>Save</button>
        {running === null
          ? <button type="button" class="play" disabled={doc.view.value.problem !== null || !doc.drawn.value} title="Save and run (Ctrl+Enter)" onClick={() => void doc.run()}>▶ Run</button>
          : <button type="button" class="play" onClick={() => void doc.stop()}>■ Stop {running}</button>}
        <select aria-label="Run mode" value={String(doc.way.value)} disabled={running !== null} onChange={(e) => { doc.way.value = Number(e.currentTarget.value); }}>
          {doc.WAYS.map((w, i) => <option key={w.label} value={String(i)}>{w.label}</option>)}
        </select>
        <button type="button" onClick={() => { mode.value = "player"; }}>Runs</button>
        <button type="button" title="?" onClick={() => { help.value = true; }}>Shortcuts</button>
      </div>
    </header>
  );
}

function Problems() {
  const problem = doc.view.value.problem;
  // Not those of what is dragged: the map would move below the pointer.
  const d = doc.view.value.drawn, warnings = d?.is_whole ? [...d.warnings, ...withoutPath(d, doc.nodeName)] : [];
  // A text that says nothing of movement is not wrong yet.
  const isNew = problem?.key === "movement" && doc.view.value.tree?.["movement"] === undefined;
  const any = problem !== null || doc.problems.value.length > 0;
  return (
    <div role="alert" class={any || warnings.length > 0 ? "problems" : "problems none"}>
      {problem && <p>{isNew ? "There are no nodes yet; add some to start." : `⚠ ${problem.message}`}</p>}
      {doc.problems.value.map((p) => <p key={p}>⚠ {p}</p>)}
      {warnings.map((p) => <p key={p}>Note: {p}</p>)}
      {doc.conflict.value && <button type="button" onClick={() => void doc.save(true)}>Overwrite</button>}
      {doc.conflict.value && <button type="button" onClick={() => void doc.load().catch(doc.complain)}>Reload</button>}
      {doc.problems.value.length > 0 && <button type="button" onClick={() => { doc.problems.value = []; }}>Dismiss</button>}
    </div>
  );
}

function Toolbar() {
  const isWay = tool.value === "way";
  return (
    <div class="tools" role="toolbar" aria-label="Tools">
      {TOOLS.map(([t, key, words, about]) => (
        <button key={t} type="button" aria-pressed={tool.value === t} title={`${about} (${key})`} onClick={() => { tool.value = t; }}>{words}</button>
      ))}
      {isWay && <NumberField visible label="Speed, m/s" min={0.001} value={speed.value} onCommit={(v) => { if (v !== null) speed.value = v; }} />}
      {isWay && <p class="note">{doc.chosen.value.length === 1 ? `Click where node ${doc.nodeName(doc.chosen.value[0])} goes.` : "Select one node, then click where it goes."}</p>}
      {tool.value === "wire" && <p class="note">{doc.chosen.value.length === 1 ? `Click the other end of the wire from node ${doc.nodeName(doc.chosen.value[0])}.` : "Drag from one node to another."}</p>}
      {tool.value === "node" && <p class="note">Click on the map to add nodes.</p>}
    </div>
  );
}

function Clock() {
  const end = doc.drawn.value?.duration_s ?? 0;
  const t = doc.seconds.value;
  useEffect(() => { if (t > end) doc.seconds.value = end; }, [end]);
  return (
    <div class="timeline clock">
      <label>Time <input type="range" min="0" max={end} step={end > 100 ? 0.5 : 0.1} value={t} aria-valuetext={`${t.toFixed(1)} seconds of ${end}`}
        onInput={(e) => { doc.seconds.value = Number(e.currentTarget.value); }} /></label>
      <output class="now">{t.toFixed(1)} of {end} s</output>
      <Happenings />
    </div>
  );
}

function Text() {
  return (
    <details>
      <summary>The text (TOML)</summary>
      <textarea class="text" spellcheck={false} aria-label="The scenario's text" key={doc.text.value} defaultValue={doc.text.value}
        onChange={(e) => void doc.retype(e.currentTarget.value)} />
      <p class="note">Changes take effect when the field loses focus. Edits made above keep comments and other keys.</p>
    </details>
  );
}

function Exports() {
  const without = !doc.drawn.value || doc.shown.value.isOld;
  return (
    <details>
      <summary>Export</summary>
      <div class="row">
        <button type="button" disabled={without} onClick={() => void doc.download("ns2-movement", "movement.tcl")}>ns-2 movement</button>
        <button type="button" disabled={without} onClick={() => void doc.download("ns2-traffic", "traffic.tcl")}>ns-2 traffic</button>
        <button type="button" disabled={without} onClick={() => void doc.download("macfilter", "macfilter")}>macfilter trace</button>
      </div>
      <p class="note">A macfilter trace lists the frames that each node ignores over time; use it with <code>wayhop lab SCENARIO --macfilter FILE</code>.</p>
    </details>
  );
}

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = help.value;
  useEffect(() => { if (shown) dialog.current?.showModal(); else dialog.current?.close(); }, [shown]);
  return (
    <dialog ref={dialog} aria-labelledby="editor-keys" onClose={() => { help.value = false; }}>
      <h2 id="editor-keys">Keyboard shortcuts</h2>
      <dl class="keys">{KEYS.map(([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl>
      <p>Everything on the map can also be edited in the tables: Tab moves between fields, Enter applies the input.</p>
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}

export function Editor() {
  useKeys();
  useEffect(() => { document.title = `${doc.path.value.split("/").at(-1)} – Wayhop studio`; return () => { document.title = "Wayhop studio"; }; }, []);
  return (
    <>
      <Header />
      <Problems />
      <main><Toolbar /><Canvas /><Clock /></main>
      <Splitter />
      <aside class="panels" aria-label="Scenario">
        <Trajectory />
        <Nodes />
        <Generators />
        <Flows />
        <Interfaces />
        <Outlook />
        <Settings />
        <Events />
        <Ground />
        <Exports />
        <Text />
      </aside>
      <p class="said" role="status">{doc.said.value}</p>
      <Help />
    </>
  );
}
