// The border between the map and the panels beside it: drag it, or move it with the arrow keys.

import { useEffect, useState } from "preact/hooks";

const LEAST_PX = 240, STEP_PX = 24, KEPT = "wayhop-panels-px";
/** So much is left for the map. */
const MAP_PX = 320;

/** A width that both sides can have. */
const bounded = (width: number, page: number): number => Math.round(Math.max(LEAST_PX, Math.min(width, page - MAP_PX)));

function apply(width: number | null): void {
  const root = document.documentElement.style;
  if (width === null) root.removeProperty("--panels"); else root.setProperty("--panels", `${width}px`);
}

/** What was chosen before; a browser may forbid to keep things. */
function kept(): number | null {
  try { const px = Number(localStorage.getItem(KEPT)); return px > 0 ? bounded(px, innerWidth) : null; } catch { return null; }
}
function keep(width: number | null): void {
  try { if (width === null) localStorage.removeItem(KEPT); else localStorage.setItem(KEPT, String(width)); } catch { /* then it holds until the page is left */ }
}

export function Splitter() {
  const [width, set] = useState<number | null>(() => { const px = kept(); apply(px); return px; });
  const to = (px: number | null) => { const next = px === null ? null : bounded(px, innerWidth); apply(next); keep(next); set(next); };
  const now = () => document.querySelector<HTMLElement>(".panels")?.offsetWidth ?? LEAST_PX;
  const [usual, setUsual] = useState(LEAST_PX);
  useEffect(() => setUsual(now()), [width]);
  const key = (e: KeyboardEvent) => {
    const by = { ArrowLeft: STEP_PX, ArrowRight: -STEP_PX }[e.key];
    if (by === undefined && e.key !== "Home") return;
    e.preventDefault();
    e.stopPropagation();
    to(by === undefined ? null : now() + by);
  };
  return (
    <div class="splitter" role="separator" aria-orientation="vertical" aria-label="Width of the panels" aria-valuenow={width ?? usual} aria-valuemin={LEAST_PX} tabIndex={0}
      title="Drag to change the width; double-click to reset it" onKeyDown={key} onDblClick={() => to(null)}
      onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
      onPointerMove={(e) => { if (e.currentTarget.hasPointerCapture(e.pointerId)) to(innerWidth - e.clientX); }} />
  );
}
