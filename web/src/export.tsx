// Saving the map: a moment as SVG or PNG, a span of time as a video. All is made in the page.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Camera, fit } from "./camera";
import { parseMoment, showMoment, SPEEDS } from "./clock";
import { DARK, draw, LIGHT, type Pen } from "./draw";
import { exportShown } from "./exporting";
import * as flows from "./flows";
import { pictureOf } from "./map";
import { night } from "./night";
import * as state from "./state";
import { SvgSheet } from "./svg";
import { type Coded, webm } from "./webm";

/** Pixels of PNG and video to one of the page; pictures of a video a second, and at most; its bits a second. */
const SCALE = 2, FPS = 30, MOST_PICTURES = 600 * FPS, BITS = 6_000_000;
/** A picture that stands for itself comes so often, so that one can jump in a video; pictures that wait for the encoder. */
const KEY_EVERY = 2 * FPS, MOST_QUEUED = 3;
const MOST_KEYS = 12;

interface Recording { done: number; stop: () => void }
const recording = signal<Recording | null>(null);
const problem = signal<string | null>(null);

function save(blob: Blob, end: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${(state.runName.value ?? "map").replaceAll(/[^\w.-]+/g, "-")}-${(state.t.value / 1e9).toFixed(3)}s.${end}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Draws the map with what a reader of the picture lacks: the moment, and which flow has which colour. */
function paint(g: Pen, t: number, camera: Camera, size: { width: number; height: number }, speed = state.speed.value): void {
  const picture = pictureOf("own", t, camera, size, g, speed), theme = night.value ? DARK : LIGHT;
  draw(g, picture);
  const write = (text: string, x: number, y: number) => { g.lineWidth = 3; g.strokeStyle = theme.ground; g.strokeText(text, x, y); g.fillStyle = theme.ink; g.fillText(text, x, y); };
  g.font = "bold 13px system-ui, sans-serif";
  g.textBaseline = "middle";
  write(`${state.info.value?.scenario ?? state.runName.value ?? ""}  ${showMoment(t)}`, 12, 16);
  g.font = "12px system-ui, sans-serif";
  const used = [...new Set(picture.marks.routes.map((r) => r.flow))].filter((f) => f >= 0 && !flows.hidden.value.has(f)).sort((a, b) => a - b);
  used.slice(0, MOST_KEYS).forEach((flow, i) => {
    const { colour, dash } = flows.styleOf(flow, night.value), y = 36 + 17 * i;
    g.strokeStyle = colour; g.lineWidth = 4; g.setLineDash(dash);
    g.beginPath(); g.moveTo(12, y); g.lineTo(38, y); g.stroke(); g.setLineDash([]);
    write(`flow ${flow}`, 45, y);
  });
}

function view(): { camera: Camera; size: { width: number; height: number } } {
  const size = state.mapSize.value;
  return { size, camera: state.camera.value ?? fit([0, 0, 100, 100], size.width, size.height) };
}

function saveSvg(): void {
  const { camera, size } = view(), sheet = new SvgSheet(size.width, size.height);
  paint(sheet, state.t.value, camera, size);
  save(new Blob([sheet.toString()], { type: "image/svg+xml" }), "svg");
}

/** A canvas of the map's view, larger than the page has it, and how to draw a moment on it. */
function canvasOf(): { canvas: HTMLCanvasElement; show: (t: number, speed?: number) => void } {
  const { camera, size } = view(), canvas = document.createElement("canvas");
  // Encoders of video want even sizes.
  [canvas.width, canvas.height] = [size.width, size.height].map((v) => 2 * Math.round((v * SCALE) / 2));
  const g = canvas.getContext("2d")!;
  g.setTransform(canvas.width / size.width, 0, 0, canvas.height / size.height, 0, 0);
  return { canvas, show: (t, speed) => paint(g, t, camera, size, speed) };
}

function savePng(): void {
  const { canvas, show } = canvasOf();
  show(state.t.value);
  canvas.toBlob((blob) => { if (blob) save(blob, "png"); });
}

/** Waits until what a picture of a moment shows has come from the server: packets of the moment, and of those before that leave marks. */
async function fetched(moment: number, speed: number): Promise<void> {
  const of = state.stretches;
  if (!of || state.live.value) return;
  for (const t of [Math.max(0, moment - 2e9 * Math.max(1, speed)), moment]) {
    if (t <= of.end) await of.fetch(t);
  }
}

/** Makes a video of a span, picture by picture, however long each takes. */
async function saveVideo(from: number, to: number, speed: number): Promise<void> {
  if (!window.VideoEncoder) throw new Error("This browser cannot record videos here: it needs WebCodecs and a trusted address (localhost, or a tunnel to it: ssh -L)");
  const count = Math.max(1, Math.round(((to - from) / 1e9 / speed) * FPS));
  if (count > MOST_PICTURES) throw new Error(`That would be ${Math.round(count / FPS / 60)} minutes of video; the limit is ${MOST_PICTURES / FPS / 60}: choose a higher speed or a shorter time`);
  const { canvas, show } = canvasOf(), { width, height } = canvas, pictures: Coded[] = [];
  let wrong: unknown = null, stopped = false;
  const encoder = new VideoEncoder({
    output: (chunk) => { const data = new Uint8Array(chunk.byteLength); chunk.copyTo(data); pictures.push({ data, time_ms: Math.round(chunk.timestamp / 1000), isKey: chunk.type === "key" }); },
    error: (e) => { wrong = e; },
  });
  encoder.configure({ codec: "vp09.00.51.08", width, height, bitrate: BITS, framerate: FPS });
  recording.value = { done: 0, stop: () => { stopped = true; } };
  for (let i = 0; i <= count && !stopped && !wrong; i += 1) {
    const t = Math.min(to, from + (i * speed * 1e9) / FPS);
    await fetched(t, speed);
    show(t, speed);
    const picture = new VideoFrame(canvas, { timestamp: Math.round((i * 1e6) / FPS) });
    encoder.encode(picture, { keyFrame: i % KEY_EVERY === 0 });
    picture.close();
    do await new Promise((done) => setTimeout(done)); while (encoder.encodeQueueSize > MOST_QUEUED && !wrong);
    recording.value = { ...recording.value, done: i / count };
  }
  if (!wrong) await encoder.flush();
  recording.value = null;
  if (wrong) throw wrong;
  save(new Blob(webm({ codec: "V_VP9", width, height, fps: FPS, pictures }) as BlobPart[], { type: "video/webm" }), "webm");
}

function Video() {
  const end = state.end.value, from = state.t.value, to = Math.min(end, from + 10e9);
  const submit = (e: Event) => {
    e.preventDefault();
    const fields = new FormData(e.currentTarget as HTMLFormElement);
    const [a, b] = ["from", "to"].map((name) => parseMoment(String(fields.get(name))));
    problem.value = a === null || b === null || b <= a ? "Enter two times, the second after the first: seconds, m:ss or h:mm:ss" : null;
    if (problem.value || a === null || b === null) return;
    saveVideo(a, Math.min(b, end), Number(fields.get("speed"))).catch((wrong: unknown) => { recording.value = null; problem.value = wrong instanceof Error ? wrong.message : String(wrong); });
  };
  const now = recording.value;
  if (now) return <p role="status"><progress max={1} value={now.done} aria-label="Progress" /> {Math.round(100 * now.done)} % <button type="button" onClick={now.stop}>Stop and save</button></p>;
  return (
    <form class="export" onSubmit={submit}>
      <label>From <input name="from" size={9} defaultValue={showMoment(from)} autocomplete="off" /></label>
      <label>to <input name="to" size={9} defaultValue={showMoment(to)} autocomplete="off" /></label>
      <label>Speed <select name="speed" defaultValue={String(state.speed.value)}>{SPEEDS.map((s) => <option key={s} value={String(s)} selected={s === state.speed.value}>{s}×</option>)}</select></label>
      <button type="submit">Record a video (WebM)</button>
    </form>
  );
}

export function ExportDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = exportShown.value;
  useEffect(() => { if (shown) { state.playing.value = false; dialog.current?.showModal(); } else dialog.current?.close(); }, [shown]);
  return (
    <dialog ref={dialog} aria-labelledby="export" onClose={() => { exportShown.value = false; recording.value?.stop(); }}>
      <h2 id="export">Save the map</h2>
      {shown && (
        <>
          <p>The map at {showMoment(state.t.value)}: <button type="button" onClick={saveSvg}>SVG</button> <button type="button" onClick={savePng}>PNG</button></p>
          <Video />
          {problem.value && <p class="wrong" role="alert">⚠ {problem.value}</p>}
        </>
      )}
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}
