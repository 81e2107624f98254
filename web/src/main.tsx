// The studio's page.

import "uplot/dist/uPlot.min.css";
import "./studio.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import type { RunName } from "./api";
import * as scenario from "./editor/document";
import { Editor } from "./editor/editor";
import { embedded } from "./embedded";
import { ExportDialog } from "./export";
import { Help, helpShown, listen } from "./keys";
import * as live from "./live/follow";
import { LiveState } from "./live/panel";
import { Maps } from "./map";
import * as matrix from "./matrix/log";
import { MatrixView } from "./matrix/view";
import { canEdit, mode } from "./mode";
import { Panels } from "./panels";
import { groupsOf } from "./runlist";
import { Splitter } from "./splitter";
import { Start } from "./start";
import * as state from "./state";
import { Timeline } from "./timeline";

/** The address follows so often, milliseconds; browsers allow no more than some hundred changes in half a minute. */
const ADDRESS_MS = 500;

/** With a scenario that is edited, its own runs first. */
function RunOptions({ runs, prefix }: { runs: RunName[]; prefix: string }) {
  const options = (of: RunName[]) => of.map((r) => <option key={r.name} value={`${prefix}${r.name}`}>{r.name}</option>);
  if (scenario.name.value === null) return <>{options(runs)}</>;
  return <>{groupsOf(runs, scenario.name.value).map((g) => <optgroup key={g.of} label={g.heading}>{options(g.runs)}</optgroup>)}</>;
}

function Header() {
  const info = state.info.value;
  const hasEnded = state.live.value !== null && live.connection.value === "ended";
  const about = info && [info.scenario, info.protocol, info.world, state.live.value || info.world === "field" ? null : `seed ${info.seed}`, info.status === "complete" ? null : hasEnded ? "ended" : info.status];
  return (
    <header>
      <h1>Wayhop studio</h1>
      <label>Run{" "}
        <select value={`${state.live.value ? "live" : "run"} ${state.runName.value ?? ""}`} onChange={(e) => choose(e.currentTarget.value)}>
          {state.runName.value === null && <option value="run ">choose a run</option>}
          {live.underWay.value?.map((r) => <option key={`live ${r.name}`} value={`live ${r.name}`}>● {r.name} ({r.world})</option>)}
          <RunOptions runs={state.runs.value} prefix="run " />
        </select>
      </label>
      {!state.live.value && state.runName.value !== null && state.runs.value.length > 1 && (
        <label>Compare with{" "}
          <select value={state.otherName.value ?? ""} onChange={(e) => void state.compare(e.currentTarget.value || null)}>
            <option value="">no run</option>
            <RunOptions runs={state.runs.value.filter((r) => r.name !== state.runName.value)} prefix="" />
          </select>
        </label>
      )}
      <LiveState />
      {live.underWay.value && <button type="button" onClick={() => void live.list().catch(state.complain)}>Refresh</button>}
      <p class="about">{about?.filter(Boolean).join(" · ")}</p>
      {scenario.running.value !== null && <button type="button" onClick={() => void scenario.stop()}>■ Stop {scenario.running.value}</button>}
      {matrix.drives.value.length > 0 && <button type="button" onClick={() => { void showMatrix(); }}>Matrix</button>}
      {canEdit.value && <button type="button" onClick={() => { mode.value = "editor"; }}>Edit scenario</button>}
      <button type="button" class="help" onClick={() => { helpShown.value = true; }} title="?">Shortcuts</button>
    </header>
  );
}

/** The matrix that drives the run that is shown, or else the first one. */
async function showMatrix(): Promise<void> {
  await matrix.list().catch(state.complain);
  const all = matrix.drives.value, run = state.runName.value;
  matrix.open(matrix.name.value ?? (run !== null && all.includes(run) ? run : all[0] ?? null));
  mode.value = "matrix";
}

/** Opens a run of the list: `live NAME` or `run NAME`. */
function choose(value: string): void {
  const [kind, name] = [value.slice(0, value.indexOf(" ")), value.slice(value.indexOf(" ") + 1)];
  if (kind === "live") { live.follow(name); return; }
  live.leave();
  void state.open(name);
}

function Problems() {
  const list = state.problems.value;
  return (
    <div role="alert" class={list.length > 0 ? "problems" : "problems none"}>
      {list.map((p) => <p key={p}>⚠ {p}</p>)}
      {list.length > 0 && <button type="button" onClick={() => { state.problems.value = []; }}>Dismiss</button>}
    </div>
  );
}

function App() {
  if (mode.value === null) return null;
  if (mode.value === "editor") return <Editor />;
  if (mode.value === "matrix") return <MatrixView />;
  if (state.runName.value === null) return <><Header /><Problems /><Start /><Help /></>;
  return (
    <>
      <Header />
      <Problems />
      <main><Maps /><Timeline /></main>
      <Splitter />
      <Panels />
      <Help />
      <ExportDialog />
    </>
  );
}

listen();
render(<App />, document.getElementById("app")!);

/** A studio with a scenario begins with it, unless the address names a run. */
async function begin(): Promise<void> {
  if (embedded) { mode.value = "player"; await state.begin(); return; }
  try {
    canEdit.value = await scenario.load();
  } catch (e) {
    state.complain(e);
  }
  mode.value = canEdit.value && state.runName.value === null ? "editor" : "player";
  await matrix.list().catch(state.complain);
  const wanted = new URLSearchParams(location.search).get("matrix");
  if (wanted !== null && matrix.drives.value.includes(wanted)) { matrix.open(wanted); mode.value = "matrix"; await state.reload(); return; }
  await live.list().catch(state.complain);
  const named = live.underWay.value?.find((r) => r.name === state.runName.value) ?? (live.underWay.value?.length === 1 ? live.underWay.value[0] : null);
  if (mode.value === "editor") await state.reload();
  else if (named && !(state.runName.value !== null && state.runName.value !== named.name)) { await state.reload(); live.follow(named.name); }
  else await state.begin();
  // A folder that has the settings of a matrix and no run.
  if (mode.value === "player" && state.runs.value.length === 0 && matrix.drives.value.length > 0) { matrix.open(matrix.drives.value[0]); mode.value = "matrix"; }
}
void begin();

let waiting = false;
effect(() => {
  // Read, so that a change of any of them is seen.
  void [state.runName.value, state.t.value, state.speed.value, state.camera.value, state.selected.value, state.packet.value];
  const inPlayer = mode.value === "player";
  if (waiting || !inPlayer) return;
  waiting = true;
  setTimeout(() => { waiting = false; if (mode.value === "player") state.writeAddress(); }, ADDRESS_MS);
});
