// The timeline: play, time, speed, and what happened when.

import { useEffect, useRef } from "preact/hooks";
import { CountProgress, isCounted } from "./counted";
import { nextSpeed, parseMoment, showMoment, SPEEDS } from "./clock";
import { night } from "./night";
import * as state from "./state";

/** Packets delivered, upwards, and dropped, downwards: place and sign tell them apart, not only colour. */
function paint(canvas: HTMLCanvasElement): void {
  const g = canvas.getContext("2d");
  const frame = state.totals.value;
  const width = (canvas.width = canvas.clientWidth * devicePixelRatio);
  const height = (canvas.height = canvas.clientHeight * devicePixelRatio);
  if (!g || !frame) return;
  const { deliver, drop } = frame.columns;
  // What is not counted yet is no number, and no bar.
  const most = [...deliver, ...drop].reduce((a, n) => (n > a ? n : a), 1);
  const middle = Math.round(height * 0.6), w = width / deliver.length, counted = deliver.findIndex((n) => Number.isNaN(n));
  if (counted >= 0) {
    g.fillStyle = night.value ? "#2b333c" : "#dfe3e7";
    g.fillRect(Math.round(counted * w), 0, width, height);
  }
  for (let i = 0; i < deliver.length; i += 1) {
    g.fillStyle = night.value ? "#56B4E9" : "#0072B2";
    const up = Math.sqrt(deliver[i] / most) * middle;
    g.fillRect(i * w, middle - up, Math.max(1, w - 0.5), up);
    g.fillStyle = "#D55E00";
    g.fillRect(i * w, middle + 1, Math.max(1, w - 0.5), Math.sqrt(drop[i] / most) * (height - middle));
  }
}

export function Timeline() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const totals = state.totals.value;
  const width = state.mapSize.value.width;
  useEffect(() => { if (canvas.current) paint(canvas.current); }, [totals, width, night.value]);
  const t = state.t.value, end = state.end.value;
  const playing = state.playing.value;
  const isCounting = !state.live.value && (state.info.value?.rows ?? 0) > 0 && !(totals && isCounted(totals));
  return (
    <section class="timeline" aria-label="Time">
      <div class="bar">
        <button type="button" class="play" onClick={state.togglePlay} title="Space">{playing || state.following.value ? "❚❚ Pause" : "▶ Play"}</button>
        {state.live.value && <button type="button" aria-pressed={state.following.value} onClick={() => state.jump(Infinity)} title="End">● Now</button>}
        <button type="button" onClick={() => void state.stepEvent(false)} aria-label="Previous event" title="Shift+Left">|◀</button>
        <button type="button" onClick={() => void state.stepEvent(true)} aria-label="Next event" title="Shift+Right">▶|</button>
        <label class="speed">Speed{" "}
          <select value={String(state.speed.value)} onChange={(e) => { state.speed.value = Number(e.currentTarget.value); }}>
            {[...new Set([...SPEEDS, state.speed.value])].sort((a, b) => a - b).map((s) => <option key={s} value={String(s)}>{s}×</option>)}
          </select>
        </label>
        <form class="jump" onSubmit={(e) => { e.preventDefault(); jump(e.currentTarget.elements.namedItem("moment") as HTMLInputElement); }}>
          <label>Time{" "}
            <input id="moment" name="moment" size={9} autocomplete="off" placeholder={showMoment(t)} aria-label="Jump to time: seconds, or minutes:seconds" />
          </label>
        </form>
        {isCounting && <CountProgress frame={totals} what="packets" />}
        <output class="now" aria-label="Time of the run">{showMoment(t)} / {showMoment(end)}</output>
      </div>
      <canvas ref={canvas} role="img" aria-label={`Packets over time: delivered upwards, dropped downwards${isCounting ? "; the grey part is not counted yet" : ""}`} />
      <input type="range" min={0} max={end / 1e9} step="any" value={t / 1e9} aria-label="Time in the run, seconds"
        aria-valuetext={showMoment(t)} onInput={(e) => state.jump(Number(e.currentTarget.value) * 1e9)} />
    </section>
  );
}

function jump(field: HTMLInputElement): void {
  const moment = parseMoment(field.value);
  field.setCustomValidity(moment === null ? "Enter seconds, m:ss or h:mm:ss" : "");
  if (!field.reportValidity() || moment === null) return;
  state.jump(moment);
  field.value = "";
  field.blur();
}

export function changeSpeed(up: boolean): void {
  state.speed.value = nextSpeed(state.speed.value, up);
}
