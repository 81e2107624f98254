// The keyboard, and the page that explains it.

import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import { exportShown, showExport } from "./exporting";
import { pan, zoom } from "./map";
import * as flows from "./flows";
import { goToLoss } from "./losses";
import { mode } from "./mode";
import * as state from "./state";
import { changeSpeed } from "./timeline";

const KEYS: [string, string][] = [
  ["Space", "play, pause"], ["← →", "back or forward one second"], ["Shift ← →", "previous event, next event"],
  [", .", "slower, faster"], ["Home End", "start, end"], ["J", "jump to a time: 90, 1:30 or 0:01:30"], ["/", "find a node"], ["P", "explain a packet"], ["L, Shift L", "next loss, previous loss"], ["S", "save the map as a picture or video"],
  ["+ − 0", "zoom in, out, show all"], ["Ctrl arrows", "move the map"], ["Esc", "clear the selection; leave a field"], ["?", "show this list"],
];

export const helpShown = signal(false);

function act(e: KeyboardEvent): boolean {
  const arrows: Record<string, [number, number]> = { ArrowLeft: [-80, 0], ArrowRight: [80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] };
  if (e.ctrlKey && arrows[e.key]) { pan(...arrows[e.key]); return true; }
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  switch (e.key) {
    case " ": state.togglePlay(); return true;
    case "ArrowLeft": case "ArrowRight": {
      const forward = e.key === "ArrowRight";
      if (e.shiftKey) void state.stepEvent(forward); else state.jump(state.t.value + (forward ? 1e9 : -1e9));
      return true;
    }
    case "Home": state.jump(0); return true;
    case "End": state.jump(state.end.value); return true;
    case ",": changeSpeed(false); return true;
    case ".": changeSpeed(true); return true;
    case "j": case "J": document.getElementById("moment")?.focus(); return true;
    case "/": document.getElementById("find")?.focus(); return true;
    case "p": case "P": document.getElementById("packet")?.focus(); return true;
    case "l": case "L": void goToLoss(!e.shiftKey).catch(state.complain); return true;
    case "s": case "S": showExport(); return true;
    case "+": case "=": zoom(1.5); return true;
    case "-": zoom(1 / 1.5); return true;
    case "0": state.fitAll(); return true;
    case "Escape": state.select(null); flows.chosen.value = null; return true;
    case "?": helpShown.value = !helpShown.value; return true;
    default: return false;
  }
}

/** Keys are the page's unless what has the focus needs them. */
export function listen(): void {
  document.addEventListener("keydown", (e) => {
    if (mode.value !== "player") return;
    const at = e.target instanceof HTMLElement ? e.target : document.body;
    const writes = at instanceof HTMLSelectElement || (at instanceof HTMLInputElement && at.type !== "range");
    if (writes) { if (e.key === "Escape") at.blur(); return; }
    if ((helpShown.value && e.key !== "?") || exportShown.value) return;
    const presses = (e.key === " " || e.key === "Enter") && at.matches("button, summary");
    const scrolls = at.matches(".scroll") && e.key.startsWith("Arrow") && !e.shiftKey;
    if (!presses && !scrolls && act(e)) e.preventDefault();
  });
}

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = helpShown.value;
  useEffect(() => { if (shown) dialog.current?.showModal(); else dialog.current?.close(); }, [shown]);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => { helpShown.value = false; }}>
      <h2 id="keys">Keyboard shortcuts</h2>
      <dl class="keys">{KEYS.map(([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl>
      <p>Drag the map to move it, scroll or pinch to zoom, click a node to select it; click again to select the next node at the same place.</p>
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}
