// The line of the present over a chart.

import type uPlot from "uplot";
import * as state from "./state";

/** Moves with the clock: an element of its own, because redrawing a chart for each picture of the map takes as long as the map. Returns
 * what ends it. */
export function showPresent(chart: uPlot): () => void {
  const line = document.createElement("div");
  line.className = "present";
  chart.over.append(line);
  return state.t.subscribe((t) => {
    const x = chart.valToPos(t / 1e9, "x");
    line.style.transform = `translateX(${x}px)`;
    line.hidden = !(x >= 0 && x <= chart.bbox.width / devicePixelRatio);
  });
}
