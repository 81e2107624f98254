// The frames of a packet, from the captures of its nodes: decoded here, and as a file for Wireshark.

import { useState } from "preact/hooks";
import * as api from "./api";
import { showMoment } from "./clock";
import * as state from "./state";
import { type Dissected, dump, type Frames, layers } from "./told";

function FrameLine({ frame }: { frame: Dissected }) {
  const what = frame.link?.kind ?? "frame";
  const at = frame.time_ns ?? 0;
  return (
    <details class="frame">
      <summary>
        <time>{showMoment(at)}</time> <b>{state.nameOf(frame.node)}</b> {frame.sent ? "sent" : "received"} {what}, {frame.bytes - (frame.radio?.header_bytes ?? 0)} octets
        {frame.link?.retry ? ", retransmission" : ""}{frame.radio?.bad_fcs ? ", ✕ FCS wrong" : ""}
      </summary>
      {frame.comment && <p class="note">{frame.comment}</p>}
      <dl>{layers(frame).map(([name, text], i) => <><dt key={i}>{name}</dt><dd>{text}</dd></>)}</dl>
      {frame.captured_bytes < frame.bytes && <p class="note">{frame.captured_bytes} of {frame.bytes} octets were captured.</p>}
      <pre class="scroll" tabIndex={0} aria-label="Bytes">{dump(frame.octets)}</pre>
      <button type="button" onClick={() => { state.playing.value = false; state.jump(at); state.select(frame.node); }}>Go there</button>
    </details>
  );
}

function List({ run, packet, got }: { run: string; packet: number; got: Frames }) {
  const world = state.info.value?.world;
  const names = got.without_capture.map(state.nameOf).join(", ");
  return (
    <>
      {got.problems.map((p) => <p key={p} class="wrong" role="alert">⚠ {p}</p>)}
      {got.frames.length > 0 && (
        <>
          <p><a class="button" href={api.framesFile(run, packet)} download={got.file}>Open in Wireshark</a></p>
          <p class="note">Downloads these frames; open them with <code>wireshark -r {got.file}</code>. A frame appears once per node that captured it; <code>-Y "frame.packet_flags_direction == 2"</code> shows only sent frames.</p>
        </>
      )}
      <div class="scroll list" tabIndex={0} role="region" aria-label="Frames, in order of time">{got.frames.map((f, i) => <FrameLine key={i} frame={f} />)}</div>
      {got.frames.length === 0 && <p class="note">The captures have no frame at this packet's times.{world === "lab" || world === "field" ? " Their times are times of day, so frames are matched by the packet's addresses and approximate time, in runs whose summary has time_zero_unix_ns." : ""}</p>}
      {got.frames.length < got.all && <p class="note">The first {got.frames.length} of {got.all}; the file has all.</p>}
      {got.more && <p class="note">The search stopped at a limit; there may be more.</p>}
      {names && <p class="note">Nodes without a capture: {names}. Record all with <code>--captures</code>.</p>}
    </>
  );
}

export function FramesPanel({ run, packet }: { run: string; packet: number }) {
  const [got, set] = useState<Frames | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [asked, ask] = useState(false);
  const load = () => {
    if (asked) return;
    ask(true);
    api.frames(run, packet).then(set, (e: unknown) => setWrong(e instanceof Error ? e.message : String(e)));
  };
  return (
    <details class="frames" onToggle={(e) => { if (e.currentTarget.open) load(); }}>
      <summary>Frames{got ? ` (${got.all})` : ""}</summary>
      {wrong && <p class="wrong" role="alert">⚠ {wrong}</p>}
      {asked && !got && !wrong && <p class="note" role="status">Reading the captures …</p>}
      {got && <List run={run} packet={packet} got={got} />}
    </details>
  );
}
