// A chart over the time of the run: the stretch that all charts show, and the line of the present.

import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { night } from "./night";
import { showPresent } from "./present";
import * as state from "./state";

export interface Line { label: string; colour: string; night?: string; dash?: number[] }

/** Seconds that the charts show, and the middle; null for the whole run. */
export const zoomed = signal<{ middle: number; width: number } | null>(null);
export const shown = computed<[number, number]>(() => {
  const end = state.end.value / 1e9, of = zoomed.value;
  if (of === null || of.width >= end) return [0, Math.max(end, 1e-9)];
  const from = Math.min(Math.max(0, of.middle - of.width / 2), end - of.width);
  return [from, from + of.width];
});

const WIDTHS = [100, 10, 1, 0.1];

export function Zoom() {
  const end = state.end.value / 1e9, of = zoomed.value;
  const centre = (width: number) => { zoomed.value = Number.isNaN(width) ? null : { middle: state.t.value / 1e9, width }; };
  return (
    <p class="chart-bar">
      <label>Time{" "}
        <select value={of === null ? "all" : String(of.width)} onChange={(e) => centre(Number(e.currentTarget.value))}>
          <option value="all">whole run</option>
          {WIDTHS.filter((w) => w < end).map((w) => <option key={w} value={String(w)}>{w} s around now</option>)}
        </select>
      </label>{" "}
      {of !== null && <button type="button" onClick={() => centre(of.width)}>Go to the current time</button>}
    </p>
  );
}

interface Props {
  label: string; height: number; unit: string; lines: Line[];
  /** Seconds, then a column for each line. */
  data: (ArrayLike<number | null>)[];
  /** The range of the vertical axis, and what stands at its ticks, where the data do not say. */
  y?: [number, number]; tick?: (value: number) => string;
  draw?: (u: uPlot) => void;
  /** Whether a click at these pixels meant something that is drawn; else the replay goes to that moment. */
  pick?: (u: uPlot, x: number, y: number) => boolean;
}

export function Plot(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const range = shown.value;
  useEffect(() => {
    const parent = box.current;
    if (!parent) return;
    const axis = {
      stroke: night.value ? "#c3ccd5" : "#3d4650", grid: { stroke: night.value ? "#2b333c" : "#e3e6ea", width: 1 },
      ticks: { stroke: night.value ? "#2b333c" : "#e3e6ea" }, font: "11px system-ui", labelFont: "11px system-ui", labelSize: 15,
    };
    const made = new uPlot({
      width: parent.clientWidth || 300, height: p.height, legend: { show: false }, cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false, range: () => range }, y: p.y ? { range: () => p.y! } : { range: (_u, _min, max) => [0, Math.max(max ?? 0, 1e-9) * 1.05] } },
      axes: [
        { ...axis, size: 24 },
        { ...axis, size: p.y && !p.tick ? 56 : 44, label: p.unit, ...(p.tick ? { values: (_u: uPlot, ticks: number[]) => ticks.map(p.tick!) } : {}) },
      ],
      series: [{}, ...p.lines.map((l) => ({
        label: l.label, stroke: night.value && l.night ? l.night : l.colour, dash: l.dash, width: l.colour === "" ? 0 : 1.5, points: { show: false }, paths: l.colour === "" ? () => null : undefined,
      }))],
      hooks: { draw: p.draw ? [p.draw] : [] },
    }, p.data as uPlot.AlignedData, parent);
    const stop = showPresent(made);
    made.over.addEventListener("click", (e) => {
      if (!p.pick?.(made, e.offsetX, e.offsetY)) state.jump(made.posToVal(e.offsetX, "x") * 1e9);
    });
    return () => { stop(); made.destroy(); };
  }, [p.data, p.height, range[0], range[1], p.y?.[0], p.y?.[1], night.value]);
  return <div class="plot" ref={box} role="img" aria-label={p.label} />;
}
