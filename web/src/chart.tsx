// A strip chart of what a node, or all of them, did over the run.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { CountProgress } from "./counted";
import { night } from "./night";
import { showPresent } from "./present";
import { rates } from "./quantities";
import * as state from "./state";

// Colours of Okabe and Ito, and a dash for each.
const LINES = [
  { name: "originate", label: "sent by applications", colour: "#009E73", dash: [8, 4] },
  { name: "deliver", label: "delivered", colour: "#0072B2", night: "#56B4E9", dash: [] },
  { name: "drop", label: "dropped", colour: "#D55E00", dash: [2, 3] },
  { name: "transmit", label: "transmitted", colour: "#8a8f98", dash: [10, 3, 2, 3] },
];

export function Chart() {
  const box = useRef<HTMLDivElement>(null);
  const frame = state.counts.value;
  useEffect(() => {
    if (!frame || !box.current) return;
    const ink = night.value ? "#c3ccd5" : "#3d4650", rule = night.value ? "#2b333c" : "#e3e6ea";
    const lines = LINES.map((l) => rates(frame, l.name) ?? [[], []]);
    const data = [lines[0][0], ...lines.map(([, values]) => values)] as uPlot.AlignedData;
    const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule }, font: "11px system-ui" };
    const made = new uPlot({
      width: box.current.clientWidth || 300, height: 170, legend: { live: false }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 26, label: "seconds", labelSize: 16, labelFont: "11px system-ui" }, { ...axis, size: 54, label: "packets per second", labelSize: 16, labelFont: "11px system-ui" }],
      series: [{}, ...LINES.map((l) => ({ label: l.label, stroke: night.value && l.night ? l.night : l.colour, dash: l.dash, width: 1.5, points: { show: false } }))],
    }, data, box.current);
    made.over.addEventListener("click", (e) => state.jump(made.posToVal(e.offsetX, "x") * 1e9));
    const stop = showPresent(made);
    return () => { stop(); made.destroy(); };
  }, [frame, night.value]);
  if (!state.live.value && state.info.value?.rows === 0) return <p class="note">No packets were recorded.</p>;
  return (
    <>
      <CountProgress frame={frame} what={state.selected.value === null ? "packets" : "the packets of each node"} />
      <div class="chart" ref={box} role="img" aria-label="Packets per second over the run: sent, delivered, dropped, transmitted" />
    </>
  );
}
