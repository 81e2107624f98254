// What a studio has to show while no run is chosen: runs, and reports beside them.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as api from "./api";
import * as live from "./live/follow";
import * as state from "./state";

const reports = signal<api.Report[]>([]);

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
  const words = [length + underWay.length > 0 ? "a run" : null, reports.value.length > 0 ? "a report" : null].filter(Boolean).join(" or ");
  return (
    <main class="start">
      <p class="choose">{words ? `Choose ${words}.` : "No run yet. Make one: wayhop run SCENARIO.toml"}</p>
      {underWay.length > 0 && (
        <details open>
          <summary>Under way ({underWay.length})</summary>
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

/** Runs to choose from. */
function Runs() {
  const all = state.runs.value;
  if (all.length === 0) return null;
  return (
    <details open>
      <summary>Runs ({all.length})</summary>
      <div class="scroll tall" tabIndex={0} role="region" aria-label="Table of runs">
        <table class="runs">
          <thead><tr><th scope="col">Run</th><th scope="col" class="words">Scenario</th><th scope="col" class="words">Protocol</th><th scope="col">Seed</th><th scope="col">Begun, UTC</th><th scope="col">State</th></tr></thead>
          <tbody>
            {all.map((r) => (
              <tr key={r.name}>
                <th scope="row"><button type="button" onClick={() => void state.open(r.name)}>{r.name}</button></th>
                <td class="words">{r.scenario ?? "–"}</td><td class="words">{r.protocol ?? "–"}</td><td>{r.seed ?? "–"}</td><td>{r.started?.slice(0, 16).replace("T", " ") ?? "–"}</td><td>{r.status ?? "cannot be read"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
