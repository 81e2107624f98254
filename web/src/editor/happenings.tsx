// Bars below the clock: outages, cuts of wires and attacks over the run's time. They can be dragged, stretched, and moved by keyboard.

import { useRef } from "preact/hooks";
import * as doc from "./document";
import { named } from "./model";
import { open, opened } from "./entries";
import { type Span, spanned, spans } from "./spans";

/** A bar whose times are nearer to its end than this, pixels, is stretched. */
const EDGE_PX = 10;
const MOST_RANDOM = 2_000;
const SIGN: Record<Span["kind"], string> = { outage: "⊗", cut: "✂", attack: "⚡" };

function times({ from, until }: { from: number; until: number | null }): string {
  return until === null ? `from ${from} s to the end` : `from ${from} s to ${Math.round(until * 10) / 10} s`;
}

function Bar({ span, end }: { span: Span; end: number }) {
  const bar = useRef<HTMLButtonElement>(null);
  const drag = useRef<{ x: number; isEdge: boolean; isDrag: boolean; pointer: number } | null>(null);
  const until = span.until ?? end;
  const percent = (s: number) => (100 * Math.min(end, Math.max(0, s))) / end;
  const moved = (by: number, isEdge: boolean) =>
    spanned(span, isEdge ? span.from : Math.max(0, span.from + by), isEdge ? Math.max(span.from + 0.1, until + by) : span.until === null ? null : Math.max(0, span.from + by) + (span.until - span.from));
  const change = (by: number, isEdge: boolean) => { const operations = moved(by, isEdge); if (operations.length > 0) void doc.edit(`${isEdge ? "Resize" : "Move"} ${named(span.path)}`, operations); };
  const seconds = (e: PointerEvent) => ((e.clientX - drag.current!.x) / (bar.current!.parentElement!.clientWidth || 1)) * end;
  const key = (e: KeyboardEvent) => {
    const by = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
    if (by !== 0) { e.preventDefault(); change(e.altKey ? by / 10 : by, e.shiftKey); }
    if (e.key === "Delete") { e.preventDefault(); e.stopPropagation(); void doc.edit(`Delete ${named(span.path)}`, [{ op: "remove", path: span.path }]); }
  };
  return (
    <button ref={bar} type="button" class={`bar-of ${span.kind}${span.keys ? "" : " random"}`} aria-pressed={opened.value === named(span.path)} aria-label={`${span.label}, ${times(span)}${span.keys ? "; move it with the arrow keys, or its end with Shift and the arrow keys" : ""}`}
      title={`${span.label}, ${times(span)}`} style={{ left: `${percent(span.from)}%`, width: `max(10px, ${percent(until) - percent(span.from)}%)` }}
      onClick={() => { if (!drag.current?.isDrag) open(span.path.slice(0, 2)); }}
      onKeyDown={span.keys ? key : undefined}
      onPointerDown={(e) => {
        const r = bar.current!.getBoundingClientRect();
        drag.current = { x: e.clientX, isEdge: r.right - e.clientX < Math.min(EDGE_PX, r.width / 3), isDrag: false, pointer: e.pointerId };
        if (span.keys) bar.current!.setPointerCapture(e.pointerId);
      }}
      onPointerMove={(e) => {
        const d = drag.current;
        if (!d || d.pointer !== e.pointerId || !span.keys || !bar.current!.hasPointerCapture(e.pointerId)) return;
        if (!d.isDrag && Math.abs(e.clientX - d.x) < 4) return;
        d.isDrag = true;
        doc.setDragging(true);
        void doc.preview(moved(seconds(e), d.isEdge));
        bar.current!.style.translate = d.isEdge ? "" : `${e.clientX - d.x}px`;
        if (d.isEdge) bar.current!.style.paddingRight = `${Math.max(0, e.clientX - d.x)}px`;
      }}
      onPointerUp={(e) => {
        const d = drag.current;
        if (!d?.isDrag) return;
        doc.setDragging(false);
        bar.current!.style.translate = bar.current!.style.paddingRight = "";
        change(seconds(e), d.isEdge);
        // The click that follows is none.
        setTimeout(() => { drag.current = null; }, 0);
      }}
      onPointerCancel={() => { drag.current = null; doc.setDragging(false); doc.ghost.value = null; bar.current!.style.translate = bar.current!.style.paddingRight = ""; }}
    >{SIGN[span.kind]}</button>
  );
}

export function Happenings() {
  const d = doc.drawn.value, end = d?.duration_s ?? 0;
  const all = spans(doc.view.value.tree, end);
  if (!d || end <= 0 || all.length === 0) return null;
  const part = (from: number, until: number | null) => ({ left: `${(100 * Math.max(0, from)) / end}%`, width: `${(100 * (Math.min(end, until ?? end) - Math.max(0, from))) / end}%` });
  // Those that the file gives have bars of their own.
  const given = all.filter((s) => s.kind === "outage" && s.keys !== null).flatMap((s) => [[s.from, s.until], ...s.again]);
  const drawn = d.outages.filter((o) => !given.some(([from, until]) => from === o.from_s && until === o.until_s)).slice(0, MOST_RANDOM);
  return (
    <div class="happenings" role="group" aria-label="Outages, cuts and attacks over time">
      {all.map((span) => (
        <div class="lane" key={named(span.path)}>
          {span.again.map(([from, until]) => <i key={from} class={`again ${span.kind}`} style={part(from, until)} />)}
          {span.keys === null && drawn.map((o, i) => <i key={i} class="again outage" style={part(o.from_s, o.until_s)} />)}
          <Bar span={span} end={end} />
        </div>
      ))}
      <i class="at" style={{ left: `${(100 * doc.seconds.value) / end}%` }} />
    </div>
  );
}
