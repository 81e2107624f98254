// On the editor's map: wires, nodes that are down, attackers.

import type { Theme } from "../draw";
import { type Drawn, type Json, list, member, type Table } from "./model";
import { nodeOf } from "./schema";
import { wireName } from "./spans";

type At = (node: number) => [number, number] | null;
interface Line { wire: number; ends: [number, number][]; hub: [number, number] | null; isCut: boolean; name: string }

const number = (v: Json | undefined): number | null => (typeof v === "number" ? v : null);

function isCut(wire: Json, seconds: number): boolean {
  return list(member(wire, "cuts")).some((c) => {
    const from = number(member(c, "start_s")) ?? 0, length = number(member(c, "length_s"));
    return from <= seconds && (length === null || seconds < from + length);
  });
}

/** Wires on the screen: a cable between two nodes, or from each of several to a switch among them. */
export function lines(tree: Table | null, names: string[], seconds: number, at: At): Line[] {
  return list(tree?.["wires"]).flatMap((entry, wire): Line[] => {
    const ends = list(member(entry, "nodes")).flatMap((r) => { const n = nodeOf(r, names), p = n === null ? null : at(n); return p ? [p] : []; });
    if (ends.length < 2) return [];
    const mean = (axis: 0 | 1) => ends.reduce((s, p) => s + p[axis], 0) / ends.length;
    return [{ wire, ends, hub: ends.length > 2 ? [mean(0), mean(1)] : null, isCut: isCut(entry, seconds), name: wireName(entry, wire) }];
  });
}

const pairsOf = ({ ends, hub }: Line): [[number, number], [number, number]][] => (hub ? ends.map((e) => [hub, e]) : [[ends[0], ends[1]]]);

export function wires(g: CanvasRenderingContext2D, theme: Theme, all: Line[], chosen: number | null): void {
  for (const line of all) {
    // Two strokes: a cable is no radio link.
    for (const [width, colour] of [[line.wire === chosen ? 8 : 6, theme.ink], [3, theme.ground]] as const) {
      g.lineWidth = width; g.strokeStyle = colour;
      g.setLineDash(line.isCut ? [8, 7] : []);
      g.beginPath();
      for (const [a, b] of pairsOf(line)) { g.moveTo(...a); g.lineTo(...b); }
      g.stroke();
    }
    g.setLineDash([]);
    const [[ax, ay], [bx, by]] = pairsOf(line)[0], [x, y] = line.hub ?? [(ax + bx) / 2, (ay + by) / 2];
    if (line.hub) { g.fillStyle = theme.ink; g.fillRect(x - 5, y - 5, 10, 10); }
    words(g, theme, `${line.name}${line.isCut ? " ✂ cut" : ""}`, x + 8, y - 10);
  }
}

/** The wire that is drawn at a place of the screen. */
export function wireAt(all: Line[], x: number, y: number): number | null {
  const near = ([[ax, ay], [bx, by]]: [[number, number], [number, number]]) => {
    const dx = bx - ax, dy = by - ay, square = dx * dx + dy * dy;
    const s = square === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / square));
    return Math.hypot(ax + s * dx - x, ay + s * dy - y) <= 7;
  };
  return all.findLast((l) => pairsOf(l).some(near))?.wire ?? null;
}

function words(g: CanvasRenderingContext2D, theme: Theme, text: string, x: number, y: number): void {
  g.font = "11px system-ui, sans-serif"; g.textBaseline = "middle"; g.lineWidth = 3;
  g.strokeStyle = theme.ground; g.fillStyle = theme.ink;
  g.strokeText(text, x, y); g.fillText(text, x, y);
}

/** Nodes that are down at a moment, and those that attack then, each once. */
export function states(drawn: Drawn | null, seconds: number): { down: Set<number>; attackers: Map<number, string> } {
  const is = (s: { from_s: number; until_s: number | null }) => s.from_s <= seconds && seconds < (s.until_s ?? Infinity);
  return {
    down: new Set((drawn?.outages ?? []).filter(is).map((o) => o.node)),
    attackers: new Map((drawn?.attackers ?? []).filter(is).map((a) => [a.node, a.kind])),
  };
}

/** A crossed-out node is down; one with a jagged ring attacks. */
export function signs(g: CanvasRenderingContext2D, theme: Theme, { down, attackers }: ReturnType<typeof states>, at: At): void {
  for (const node of down) {
    const p = at(node);
    if (!p) continue;
    const [x, y] = p;
    g.fillStyle = theme.ground; g.strokeStyle = theme.ink; g.lineWidth = 2;
    g.beginPath(); g.arc(x, y, 6, 0, 2 * Math.PI); g.fill(); g.stroke();
    g.beginPath(); g.moveTo(x - 4, y - 4); g.lineTo(x + 4, y + 4); g.moveTo(x + 4, y - 4); g.lineTo(x - 4, y + 4); g.stroke();
    words(g, theme, "down", x + 10, y + 10);
  }
  for (const [node, kind] of attackers) {
    const p = at(node);
    if (!p) continue;
    const [x, y] = p;
    g.strokeStyle = theme.attack; g.lineWidth = 2;
    g.beginPath();
    for (let k = 0; k <= 16; k += 1) {
      const r = k % 2 === 0 ? 14 : 10, angle = (k * Math.PI) / 8;
      g.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
    }
    g.stroke();
    words(g, theme, kind, x + 14, y - 22);
  }
}
