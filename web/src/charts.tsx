// The charts of a run, each fetched when it is opened.

import { useState } from "preact/hooks";
import { Losses } from "./losses";
import { Zoom } from "./plot";
import * as state from "./state";
import { Strips } from "./strips";
import { hasSegments, Tcp } from "./tcp";

type Which = "losses" | "strips" | "tcp";

export function Charts() {
  const [opened, open] = useState(false);
  const [wanted, choose] = useState<Which>("losses");
  // Of a run under way there are no tables to read: what has come is counted.
  const isLive = state.live.value !== null, which = isLive ? "strips" : wanted;
  const info = state.info.value;
  const hasTcp = (info?.flows ?? []).some(hasSegments) || (info?.connections ?? 0) > 0;
  const tab = (value: Which, label: string) => (
    <label><input type="radio" name="chart" checked={which === value} onChange={() => choose(value)} /> {label}</label>
  );
  return (
    <details class="charts" onToggle={(e) => open(e.currentTarget.open)}>
      <summary>Charts</summary>
      {opened && (
        <>
          <div class="chart-bar" role="radiogroup" aria-label="Chart">{!isLive && tab("losses", "Losses")}{tab("strips", "Strips")}{!isLive && hasTcp && tab("tcp", "TCP")}</div>
          <Zoom />
          {which === "losses" && <Losses />}
          {which === "strips" && <Strips />}
          {which === "tcp" && <Tcp />}
          <p class="note">Click to go to that time.</p>
        </>
      )}
    </details>
  );
}
