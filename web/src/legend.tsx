// The legend on the map: what its lines and signs mean, and which flows have which colours.

import { useEffect, useRef } from "preact/hooks";
import { CAUSES } from "./causes";
import * as flows from "./flows";
import { night } from "./night";
import { stories } from "./route";
import * as state from "./state";

const MOST_FLOWS = 8;
/** A phone's map has no room for it, and half of a screen has not much. */
const isWide = typeof innerWidth === "undefined" || innerWidth > 760;

/** The line of a flow as the map has it. (Attributes, for the page's policy forbids styles.) */
export function Swatch({ flow }: { flow: number }) {
  const { colour, dash } = flows.styleOf(flow, night.value);
  return <svg class="swatch" width="26" height="8" aria-hidden="true"><line x1="0" x2="26" y1="4" y2="4" stroke={colour} stroke-width="4" stroke-dasharray={dash.join(" ")} /></svg>;
}

export function MapLegend() {
  const box = useRef<HTMLDetailsElement>(null);
  const look = () => { const of = box.current; if (of) state.cover(of.open ? of.offsetLeft + of.offsetWidth : 0); };
  useEffect(look, [state.info.value, state.mapSize.value]);
  const range = state.info.value?.range_m, all = state.info.value?.flows ?? [];
  return (
    <details class="map-legend" ref={box} open={isWide && state.other.value === null} onToggle={look}>
      <summary>Legend</summary>
      <ul class="legend">
        <li><span aria-hidden="true" class="line link" /> {range ? `in range (${range} m)` : "heard in the last 2 s"}</li>
        {all.slice(0, MOST_FLOWS).map((f) => <li key={f.id}><Swatch flow={f.id} /> flow {f.id}: {flows.endsInWords(f, state.nameOf)}</li>)}
        {all.length > MOST_FLOWS && <li class="note">and {all.length - MOST_FLOWS} more: see Flows</li>}
        {!(all.length > 0 && state.info.value?.world === "sim") && <li><span aria-hidden="true" class={all.length > 0 ? "line route other" : "line route"} /> {all.length > 0 ? "other data" : "data"}, last 2 s</li>}
        <li><span aria-hidden="true" class="line data" /> data transmission (with a ring)</li>
        <li><span aria-hidden="true" class="line routing" /> routing transmission</li>
        {CAUSES.map((c) => <li key={c.label}><span aria-hidden="true" class={`sign ${c.shape}`}>{c.sign}</span> lost: {c.label}</li>)}
        {stories.value.length > 0 && <li><span aria-hidden="true" class="line told" /> route of the packet, by hop</li>}
        {stories.value.length > 0 && <li><span aria-hidden="true" class="line failed">✕</span> hop that failed</li>}
      </ul>
    </details>
  );
}
