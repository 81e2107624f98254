// What a studio has to show while no run is chosen: runs, and reports beside them.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import * as scenario from "./editor/document";
import * as live from "./live/follow";
import { folderOf, groupsOf } from "./runlist";
import * as state from "./state";
import { SweepFigures } from "./sweep/view";

const reports = signal<api.Report[]>([]);
/** With more runs than this there is a search field; up to this number of folders are open. */
const FEW_RUNS = 10, FEW_FOLDERS = 4;

const size = (octets: number | null) => (octets === null ? "–" : octets < 1e6 ? `${Math.ceil(octets / 1e3)} kB` : `${(octets / 1e6).toFixed(1)} MB`);
const day = (unix_s: number | null) => (unix_s === null ? "–" : new Date(unix_s * 1000).toISOString().slice(0, 16).replace("T", " "));

/** The reports of the folder; each opens in a tab of its own, and reaches nothing of the studio. */
export function Reports() {
  useEffect(() => { api.listReports().then((got) => { reports.value = got; }).catch(state.complain); }, []);
  const all = reports.value;
  if (all.length === 0) return null;
  return (
    <details open={state.info.value === null}>
      <summary>Reports ({all.length})</summary>
      <ul class="reports">
        {all.map((r) => (
          <li key={r.name}>
            <a href={`/report?${new URLSearchParams({ name: r.name })}`} target="_blank" rel="noopener">{r.title || r.name}</a>
            <span class="note">{r.name} · {size(r.octets)} · {day(r.written_unix_s)} UTC</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A studio with nothing chosen: all that there is to choose from. */
export function Start() {
  const { length } = state.runs.value, underWay = live.underWay.value ?? [];
  const words = [length + underWay.length > 0 ? "a run" : null, state.sweeps.value.length > 0 ? "a sweep" : null, reports.value.length > 0 ? "a report" : null].filter(Boolean).join(" or ");
  return (
    <main class="start">
      <p class="choose">{words ? `Choose ${words}.` : "No runs yet. Start one with: wayhop run SCENARIO.toml"}</p>
      {underWay.length > 0 && (
        <details open>
          <summary>Running ({underWay.length})</summary>
          <ul class="reports">{underWay.map((r) => (
            <li key={r.name}><button type="button" onClick={() => live.follow(r.name)}>● {r.name}</button> <span class="note">{r.world} · {r.protocol} · {r.nodes} nodes</span></li>
          ))}</ul>
        </details>
      )}
      <Runs />
      <Reports />
    </main>
  );
}

const percent = (ratio: number | null) => (ratio === null ? "–" : `${(100 * ratio).toFixed(1)} %`);

function Row({ run: r }: { run: api.RunName }) {
  return (
    <tr>
      <th scope="row"><button type="button" onClick={() => void state.open(r.name)}>{r.name.slice(folderOf(r.name).length).replace("/", "")}</button></th>
      <td class="words">{r.scenario ?? "–"}</td><td class="words">{r.protocol ?? "–"}</td><td>{r.nodes ?? "–"}</td><td>{r.duration_s === null ? "–" : Number(r.duration_s.toFixed(1))}</td>
      <td>{percent(r.delivery_ratio)}</td><td>{r.seed ?? "–"}</td><td class="words">{r.world ?? "–"}</td><td>{r.started?.slice(0, 16).replace("T", " ") ?? "–"}</td><td>{r.status ?? "unreadable"}</td>
    </tr>
  );
}

function RunTable({ runs, of }: { runs: api.RunName[]; of: string }) {
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label={`Table of runs${of}`}>
      <table class="runs">
        <thead><tr><th scope="col">Run</th><th scope="col" class="words">Scenario</th><th scope="col" class="words">Protocol</th><th scope="col">Nodes</th><th scope="col">Duration, s</th><th scope="col">Delivered</th><th scope="col">Seed</th><th scope="col" class="words">World</th><th scope="col">Started, UTC</th><th scope="col">State</th></tr></thead>
        <tbody>{runs.map((r) => <Row key={r.name} run={r} />)}</tbody>
      </table>
    </div>
  );
}

/** Runs to choose from: those of the edited scenario first, by the folders they lie in. Those of a sweep stand with it. */
function Runs() {
  const [wanted, want] = useState("");
  const all = state.runs.value, text = wanted.trim().toLowerCase();
  const sweeps = (areOwn: boolean) => state.sweeps.value.filter((s) => (s.name === ".") === areOwn)
    .map((s) => <Sweep key={s.name} sweep={s} runs={found.filter((r) => r.name.startsWith(`${s.name}/`))} />);
  const found = all.filter((r) => [r.name, r.scenario, r.protocol, r.status, r.world].some((w) => w?.toLowerCase().includes(text)));
  const ofSweep = (r: api.RunName) => state.sweeps.value.some((s) => r.name.startsWith(`${s.name}/`));
  const groups = groupsOf(found.filter((r) => !ofSweep(r)), scenario.name.value);
  return (
    <>
      {sweeps(true)}
      {all.length > FEW_RUNS && <label class="find">Find{" "}<input type="search" value={wanted} placeholder="name, scenario or protocol" onInput={(e) => want(e.currentTarget.value)} /></label>}
      {groups.map(({ of, heading, runs }, i) => (
        <details key={of} open={i === 0 || text !== "" || groups.length <= FEW_FOLDERS}>
          <summary>{heading} ({runs.length})</summary>
          <RunTable runs={runs} of={of} />
        </details>
      ))}
      {found.length === 0 && all.length > 0 && <p class="note">No run matches “{wanted}”.</p>}
      {state.moreRuns.value > 0 && <p class="note">{state.moreRuns.value} more runs are not listed; open their folder with <code>wayhop studio FOLDER</code></p>}
      {sweeps(false)}
    </>
  );
}

/** A sweep opens to its figures, and to its runs if it kept them. */
function Sweep({ sweep, runs }: { sweep: api.Sweep; runs: api.RunName[] }) {
  // A sweep whose folder was opened is what its user wants to see.
  const isOwn = sweep.name === ".", [isOpen, open] = useState(isOwn);
  return (
    <details open={isOwn} onToggle={(e) => open(e.currentTarget.open)}>
      <summary>{isOwn ? "This sweep" : `Sweep ${sweep.name}`}{sweep.runs === null ? "" : ` (${sweep.runs} runs)`}{sweep.has_figures ? "" : ", unfinished"}</summary>
      {isOpen && <SweepFigures name={sweep.name} />}
      {isOpen && runs.length > 0 && <details><summary>Runs ({runs.length})</summary><RunTable runs={runs} of={` in ${sweep.name}`} /></details>}
    </details>
  );
}
