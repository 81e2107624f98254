// A matrix of attenuators, second by second: where the radios are to be, the path losses that this asks for, those that the settings make.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { type Camera, fit, toScreen, zoomAt } from "../camera";
import { DARK, draw, LIGHT, type Theme } from "../draw";
import { NO_MARKS } from "../marks";
import { night } from "../night";
import { canEdit, mode } from "../mode";
import { Splitter } from "../splitter";
import * as log from "./log";
import "./matrix.css";
import { db, extent, type Link, linksOf, signed, sorted } from "./rows";

const camera = signal<Camera | null>(null);
const size = signal({ width: 0, height: 0 });
/** A link that is off by more is drawn thick, dB. */
const FAR_DB = 2;
const MOST_LINKS = 200, MOST_LABELS = 24;
/** Shorter links have no figure on the map: it would hide their ends. */
const LABEL_PX = 90;

function fitAll(): void {
  const box = extent(log.seconds.value), { width, height } = size.value;
  if (!box || width === 0) return;
  const pad = Math.max(0, 100 - Math.max(box[2] - box[0], box[3] - box[1])) / 2;
  camera.value = fit([box[0] - pad, box[1] - pad, box[2] + pad, box[3] + pad], width, height);
}

function line(g: CanvasRenderingContext2D, theme: Theme, l: Link, at: (radio: number) => [number, number], isChosen: boolean): void {
  if (l.isBeyond && !l.isFalse) return;
  const isFar = l.isFalse || Math.abs(l.error) > FAR_DB;
  g.strokeStyle = isFar ? theme.attack : isChosen ? theme.route : theme.link;
  g.lineWidth = isFar ? 3 : isChosen ? 2 : 1;
  g.setLineDash(l.isFalse ? [3, 4] : l.error < -FAR_DB ? [9, 4] : []);
  g.beginPath(); g.moveTo(...at(l.a)); g.lineTo(...at(l.b)); g.stroke(); g.setLineDash([]);
}

function paint(canvas: HTMLCanvasElement): void {
  const g = canvas.getContext("2d"), c = camera.value, second = log.shown.value, { width, height } = size.value;
  if (!g || width === 0) return;
  const theme = night.value ? DARK : LIGHT, dpr = canvas.width / width;
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  if (!c || !second) { g.fillStyle = theme.ground; g.fillRect(0, 0, width, height); return; }
  const xs = Float64Array.from(second.places_m, (p) => p[0]), ys = Float64Array.from(second.places_m, (p) => p[1]);
  const at = (radio: number) => toScreen(c, width, height, xs[radio], ys[radio]);
  const chosen = log.radio.value, links = linksOf(second);
  draw(g, {
    camera: c, width, height, theme, xs, ys, names: String, links: [], marks: NO_MARKS, selected: chosen,
    below: () => {
      const isOf = (l: Link) => chosen !== null && (l.a === chosen || l.b === chosen);
      for (const l of [...links].sort((a, b) => Number(isOf(a)) - Number(isOf(b)))) line(g, theme, l, at, isOf(l));
    },
  });
  // The figures of the chosen radio's links, or of those that are far off.
  const told = sorted(links, chosen).filter((l) => (!l.isBeyond || l.isFalse) && (chosen !== null || l.isFalse || Math.abs(l.error) > FAR_DB)).slice(0, MOST_LABELS);
  g.font = "11px system-ui, sans-serif"; g.textBaseline = "middle"; g.textAlign = "center";
  for (const l of told) {
    const [ax, ay] = at(l.a), [bx, by] = at(l.b), share = chosen === null ? 0.5 : l.a === chosen ? 0.6 : 0.4;
    if (Math.hypot(bx - ax, by - ay) < LABEL_PX) continue;
    const text = `${signed(l.error)} dB`, x = ax + (bx - ax) * share, y = ay + (by - ay) * share;
    // The link does not show through the figure.
    const half = g.measureText(text).width / 2 + 3;
    g.fillStyle = theme.ground; g.fillRect(x - half, y - 8, 2 * half, 16);
    g.fillStyle = theme.ink; g.fillText(text, x, y);
  }
  g.textAlign = "start";
  canvas.dataset.camera = [c.x, c.y, c.scale].join(",");
}

function radioAt(x: number, y: number): number | null {
  const c = camera.value, second = log.shown.value, { width, height } = size.value;
  const near = (second?.places_m ?? []).map(([px, py]) => { const [sx, sy] = toScreen(c!, width, height, px, py); return Math.hypot(sx - x, sy - y); });
  const best = near.indexOf(Math.min(...near));
  return near[best] <= 16 ? best : null;
}

function zoom(factor: number): void {
  const { width, height } = size.value;
  if (camera.value) camera.value = zoomAt(camera.value, width, height, width / 2, height / 2, factor);
}

function Layout() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const c = canvas.current!, stop = new AbortController(), { signal } = stop;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = c.parentElement!;
      c.width = Math.round(width * devicePixelRatio); c.height = Math.round(height * devicePixelRatio);
      size.value = { width, height };
      fitAll();
    });
    observer.observe(c.parentElement!);
    let asked = 0, was: unknown[] = [], last: { x: number; y: number } | null = null, moved = 0;
    const loop = () => {
      if (!camera.value && log.seconds.value.length > 0) fitAll();
      const now = [log.shown.value, log.radio.value, camera.value, size.value, night.value];
      if (now.some((v, i) => v !== was[i])) { was = now; paint(c); }
      asked = requestAnimationFrame(loop);
    };
    asked = requestAnimationFrame(loop);
    const at = (e: MouseEvent) => { const r = c.getBoundingClientRect(); return { x: e.clientX - r.left, y: e.clientY - r.top }; };
    c.addEventListener("pointerdown", (e) => { last = at(e); moved = 0; c.setPointerCapture(e.pointerId); }, { signal });
    c.addEventListener("pointermove", (e) => {
      const now = at(e), view = camera.value;
      if (!last || !view) return;
      moved += Math.hypot(now.x - last.x, now.y - last.y);
      camera.value = { ...view, x: view.x - (now.x - last.x) / view.scale, y: view.y + (now.y - last.y) / view.scale };
      last = now;
    }, { signal });
    c.addEventListener("pointerup", (e) => { const now = at(e); if (last && moved < 4 && camera.value) log.radio.value = radioAt(now.x, now.y); last = null; }, { signal });
    c.addEventListener("pointercancel", () => { last = null; }, { signal });
    c.addEventListener("wheel", (e) => {
      e.preventDefault();
      const { width, height } = size.value, { x, y } = at(e);
      if (camera.value) camera.value = zoomAt(camera.value, width, height, x, y, Math.exp(-e.deltaY * 0.0015));
    }, { passive: false, signal });
    return () => { stop.abort(); observer.disconnect(); cancelAnimationFrame(asked); camera.value = null; };
  }, []);
  return (
    <div class="map">
      <canvas ref={canvas} role="img" aria-label="Layout of the radios on a grid, with the wanted links; the table Links has the same data" />
      <div class="zoom" role="group" aria-label="Map">
        <button type="button" onClick={() => zoom(1.5)} aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button type="button" onClick={() => zoom(1 / 1.5)} aria-label="Zoom out" title="Zoom out (-)">−</button>
        <button type="button" onClick={fitAll} aria-label="Show all" title="Show all (0)">⤢</button>
      </div>
    </div>
  );
}

const isFollowed = () => log.moment.value === null;

function Clock() {
  const all = log.seconds.value, first = all[0]?.time_s ?? 0, last = all.at(-1)?.time_s ?? 0, now = log.shown.value?.time_s ?? 0;
  return (
    <div class="timeline clock">
      <button type="button" aria-pressed={isFollowed()} title="Follow the latest second" onClick={() => { log.moment.value = isFollowed() ? now : null; }}>{isFollowed() ? "● Now" : "○ Now"}</button>
      <label>Second <input type="range" min={first} max={Math.max(first, last)} step="1" value={now} aria-valuetext={`second ${now} of ${last}`}
        onInput={(e) => { log.moment.value = Number(e.currentTarget.value); }} /></label>
      <output class="now">{now} of {last} s</output>
    </div>
  );
}

/** The errors over time. */
function Errors() {
  const box = useRef<HTMLDivElement>(null), all = log.seconds.value, now = log.shown.value?.time_s ?? 0, isDark = night.value;
  useEffect(() => {
    const parent = box.current;
    if (!parent || all.length < 2) return;
    const axis = { stroke: isDark ? "#c3ccd5" : "#3d4650", grid: { stroke: isDark ? "#2b333c" : "#e3e6ea", width: 1 }, ticks: { stroke: isDark ? "#2b333c" : "#e3e6ea" }, font: "11px system-ui", labelFont: "11px system-ui", labelSize: 15 };
    const column = (of: (s: (typeof all)[number]) => number | null) => all.map(of);
    const made = new uPlot({
      width: parent.clientWidth || 300, height: 150, legend: { live: false }, cursor: { drag: { x: false, y: false } }, scales: { x: { time: false } },
      axes: [{ ...axis, size: 26, label: "seconds" }, { ...axis, size: 46, label: "error, dB" }],
      series: [{}, { label: "mean", stroke: isDark ? "#56B4E9" : "#0072B2", width: 1.5, points: { show: false } }, { label: "maximum", stroke: "#D55E00", dash: [5, 3], width: 1.5, points: { show: false } }],
      hooks: { draw: [(u) => {
        const x = u.valToPos(log.shown.peek()?.time_s ?? 0, "x", true);
        u.ctx.strokeStyle = isDark ? "#eef1f4" : "#1a1d21"; u.ctx.lineWidth = 1.5; u.ctx.setLineDash([]);
        u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke();
      }] },
    }, [column((s) => s.time_s), column((s) => s.mean_error_db), column((s) => s.max_error_db)] as uPlot.AlignedData, parent);
    made.over.addEventListener("click", (e) => { log.moment.value = Math.round(made.posToVal(e.offsetX, "x")); });
    return () => made.destroy();
  }, [all, now, isDark]);
  if (all.length < 2) return null;
  return <div class="chart" ref={box} role="img" aria-label="Mean and maximum error of the links over time" />;
}

function Now() {
  const s = log.shown.value;
  if (!s) return <p class="note">{log.heard.value === null ? "Reading …" : "No data yet."}</p>;
  return (
    <dl>
      <dt>Link error</dt><dd>mean {db(s.mean_error_db)} dB, maximum {db(s.max_error_db)} dB</dd>
      <dt>False links</dt><dd class={s.false_links > 0 ? "wrong" : ""}>{s.false_links}{s.beyond_db === null || s.beyond_db === undefined ? "" : `, above ${db(s.beyond_db)} dB`}</dd>
      <dt>Solved in</dt><dd>{s.solve_ms.toFixed(1)} ms</dd>
      <dt>Attenuators set</dt><dd>{s.set}, in {s.set_ms.toFixed(0)} ms{s.unset > 0 && <b class="wrong">; ✕ {s.unset} rejected by the attenuator box</b>}</dd>
      {s.missed > 0 && <><dt>Missed</dt><dd class="wrong">✕ no new settings in the previous {s.missed} s</dd></>}
    </dl>
  );
}

function Links() {
  const s = log.shown.value, radio = log.radio.value;
  if (!s) return null;
  const all = linksOf(s), links = sorted(all, radio);
  return (
    <details open>
      <summary>Links{radio === null ? "" : ` of radio ${radio}`} ({links.length})</summary>
      {all.length === 0 && <p class="note">This log was written by an older version and has no path losses.</p>}
      {links.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of links, largest error first">
          <table>
            <thead><tr><th scope="col">Link</th><th scope="col">Wanted, dB</th><th scope="col">Actual, dB</th><th scope="col">Error, dB</th></tr></thead>
            <tbody>{links.slice(0, MOST_LINKS).map((l) => (
              <tr key={`${l.a} ${l.b}`}><th scope="row">{l.a} – {l.b}</th><td>{l.isBeyond ? "none" : db(l.wanted)}</td><td>{db(l.made)}</td>
                <td class={l.isFalse || Math.abs(l.error) > FAR_DB ? "wrong" : ""}>{l.isFalse ? `✕ ${signed(l.error)}` : l.isBeyond ? "none" : signed(l.error)}</td></tr>
            ))}</tbody>
          </table>
        </div>
      )}
      {links.length > MOST_LINKS && <p class="note">The worst {MOST_LINKS}.</p>}
      <p class="note">“none”: out of range, so there should be no link.</p>
    </details>
  );
}

function Settings() {
  const s = log.shown.value;
  if (!s) return null;
  const buses = Math.max(...s.settings_db.map((r) => r.length), 1);
  return (
    <details open>
      <summary>Settings, dB</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Settings of the attenuators by input and bus">
        <table class="attenuators">
          <thead><tr><th scope="col">Input</th>{Array.from({ length: buses }, (_, k) => <th key={k} scope="col">bus {k}</th>)}</tr></thead>
          <tbody>{s.settings_db.map((row, i) => {
            const input = s.inputs?.[i] ?? String(i), radio = /^\d+$/.test(input) ? Number(input) : null;
            return (
              <tr key={i} class={radio !== null && radio === log.radio.value ? "selected" : ""}>
                <th scope="row">{radio === null ? `first switch, ${input}` : <button type="button" aria-pressed={radio === log.radio.value} onClick={() => { log.radio.value = radio === log.radio.value ? null : radio; }}>radio {radio}</button>}</th>
                {row.map((v, k) => <td key={k}>{v}</td>)}
              </tr>
            );
          })}</tbody>
        </table>
      </div>
    </details>
  );
}

function Header() {
  return (
    <header>
      <h1>Wayhop studio</h1>
      <label>Matrix{" "}
        <select value={log.name.value ?? ""} onChange={(e) => { camera.value = null; log.open(e.currentTarget.value || null); }}>
          {log.name.value === null && <option value="">choose a drive</option>}
          {log.drives.value.map((d) => <option key={d} value={d}>{d}</option>)}
        </select>
      </label>
      <p class="about">{log.isFresh.value ? <span class="live connected" role="status">● live</span> : log.seconds.value.length > 0 ? `${log.seconds.value.length} seconds` : ""}</p>
      {canEdit.value && <button type="button" onClick={() => { mode.value = "editor"; }}>Edit scenario</button>}
      <button type="button" onClick={() => { mode.value = "player"; }}>Runs</button>
    </header>
  );
}

function useKeys(): void {
  useEffect(() => {
    const step = (by: number) => {
      const all = log.seconds.value, now = all.indexOf(log.shown.value!);
      const to = all[Math.min(all.length - 1, Math.max(0, now + by))];
      if (to) log.moment.value = to.time_s;
    };
    const pressed = (e: KeyboardEvent) => {
      const at = e.target instanceof HTMLElement ? e.target : document.body;
      if (e.ctrlKey || e.metaKey || e.altKey || at.matches("input, select, textarea")) return;
      switch (e.key) {
        case "ArrowLeft": step(-1); break;
        case "ArrowRight": step(1); break;
        case "Home": step(-Infinity); break;
        case "End": log.moment.value = null; break;
        case "+": case "=": zoom(1.5); break;
        case "-": zoom(1 / 1.5); break;
        case "0": fitAll(); break;
        case "Escape": log.radio.value = null; break;
        default: return;
      }
      e.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}

export function MatrixView() {
  useKeys();
  const { value: problem } = log.problem, { value: damaged } = log.damaged;
  return (
    <>
      <Header />
      <div role="alert" class={problem || damaged > 0 ? "problems" : "problems none"}>
        {problem && <p>⚠ {problem}</p>}
        {damaged > 0 && <p>⚠ {damaged} lines of the log are damaged and left out</p>}
      </div>
      <main><Layout /><Clock /></main>
      <Splitter />
      <aside class="panels" aria-label="Details">
        <details open><summary>Second {log.shown.value?.time_s ?? "–"}</summary><Now /><Errors /></details>
        <Links />
        <Settings />
        <details open>
          <summary>Legend</summary>
          <ul class="legend">
            <li><span aria-hidden="true" class="line link" /> link within {FAR_DB} dB of the wanted path loss</li>
            <li><span aria-hidden="true" class="line far" /> more than {FAR_DB} dB too weak; dashed: too strong</li>
            <li><span aria-hidden="true" class="line false" /> false link: out of range</li>
          </ul>
          <p class="note">← → back or forward one second; End latest; + − 0 zoom; Esc clear the selection.</p>
        </details>
      </aside>
    </>
  );
}
