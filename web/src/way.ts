// Drawing the way of the packet whose story is told: each hop with its number, and the link on which it was lost.

import { type Pen, shape, type Theme } from "./draw";
import type { Leg, Way } from "./route";

/** Legs that have numbers. */
const MOST_NUMBERS = 30;

/** Draws below the nodes. Legs after the moment `t` are faint. */
export function drawWay(g: Pen, theme: Theme, way: Way, t: number, sx: ArrayLike<number>, sy: ArrayLike<number>): void {
  const isDrawn = (l: Leg) => Number.isFinite(sx[l.node] + sx[l.peer]);
  const line = (l: Leg, width: number, colour: string) => {
    g.lineWidth = width; g.strokeStyle = colour;
    g.beginPath(); g.moveTo(sx[l.node], sy[l.node]); g.lineTo(sx[l.peer], sy[l.peer]); g.stroke();
  };
  for (const leg of way.legs.filter(isDrawn)) {
    g.globalAlpha = leg.t <= t ? 1 : 0.35;
    line(leg, 9, theme.ground);
    g.setLineDash(leg.arrived === false ? [8, 5] : []);
    line(leg, 4, leg.arrived === false ? theme.lost : theme.way);
    g.setLineDash([]);
  }
  g.globalAlpha = 1;
  way.legs.filter(isDrawn).slice(0, MOST_NUMBERS).forEach((leg, i) => number(g, theme, leg, `${i + 1}`, sx, sy));
  if (way.failing && isDrawn(way.failing)) {
    const { node, peer } = way.failing;
    shape(g, "cross", (sx[node] + sx[peer]) / 2, (sy[node] + sy[peer]) / 2, theme.lost, theme.ground);
  }
  if (way.lostAt !== null && Number.isFinite(sx[way.lostAt])) {
    g.strokeStyle = theme.lost; g.lineWidth = 3;
    g.beginPath(); g.arc(sx[way.lostAt], sy[way.lostAt], 12, 0, 2 * Math.PI); g.stroke();
  }
}

/** The number of a leg stands at a third of it, to its right: that of the way back is on the other side. */
function number(g: Pen, theme: Theme, { node, peer }: Leg, text: string, sx: ArrayLike<number>, sy: ArrayLike<number>): void {
  const dx = sx[peer] - sx[node], dy = sy[peer] - sy[node], length = Math.hypot(dx, dy);
  if (length < 30) return;
  const x = sx[node] + dx / 3 - (dy / length) * 11, y = sy[node] + dy / 3 + (dx / length) * 11;
  g.font = "bold 12px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.lineWidth = 3; g.strokeStyle = theme.ground; g.fillStyle = theme.ink;
  g.strokeText(text, x - 3, y);
  g.fillText(text, x - 3, y);
}
