// A sheet that takes what is drawn on a canvas and becomes SVG. It knows what draw.ts uses, no more.

import type { Pen } from "./draw";

const n = (v: number) => String(Number(v.toFixed(2)));
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export class SvgSheet implements Pen {
  fillStyle = "#000000";
  strokeStyle = "#000000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "12px sans-serif";
  textBaseline: CanvasTextBaseline = "alphabetic";
  private dash: number[] = [];
  private path = "";
  private readonly parts: string[] = [];

  constructor(readonly width: number, readonly height: number) {}

  setLineDash(dash: Iterable<number>): void { this.dash = [...dash]; }
  beginPath(): void { this.path = ""; }
  moveTo(x: number, y: number): void { this.path += `M${n(x)} ${n(y)}`; }
  lineTo(x: number, y: number): void { this.path += `${this.path === "" ? "M" : "L"}${n(x)} ${n(y)}`; }
  closePath(): void { this.path += "Z"; }

  /** Whole circles only: two halves. */
  arc(x: number, y: number, r: number): void {
    const turn = (to: number) => `A${n(r)} ${n(r)} 0 1 1 ${n(to)} ${n(y)}`;
    this.path += `M${n(x + r)} ${n(y)}${turn(x - r)}${turn(x + r)}`;
  }

  stroke(): void { if (this.isSeen(this.path)) this.parts.push(`<path d="${this.path}" fill="none"${this.pen()}/>`); }
  fill(): void { if (this.isSeen(this.path)) this.parts.push(`<path d="${this.path}"${this.brush()}/>`); }
  fillRect(x: number, y: number, w: number, h: number): void { this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"${this.brush()}/>`); }
  strokeRect(x: number, y: number, w: number, h: number): void { this.parts.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="none"${this.pen()}/>`); }
  fillText(text: string, x: number, y: number): void { this.text(text, x, y, this.brush()); }
  strokeText(text: string, x: number, y: number): void { this.text(text, x, y, ` fill="none"${this.pen()} stroke-linejoin="round"`); }

  toString(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">${this.parts.join("\n")}</svg>\n`;
  }

  /** A node without a place has no path that can be drawn. */
  private isSeen(path: string): boolean { return path !== "" && !path.includes("NaN") && !path.includes("Infinity"); }
  private alpha(): string { return this.globalAlpha < 1 ? ` opacity="${n(this.globalAlpha)}"` : ""; }
  private brush(): string { return ` fill="${escaped(this.fillStyle)}"${this.alpha()}`; }
  private pen(): string {
    return ` stroke="${escaped(this.strokeStyle)}" stroke-width="${n(this.lineWidth)}"${this.dash.length > 0 ? ` stroke-dasharray="${this.dash.map(n).join(" ")}"` : ""}${this.alpha()}`;
  }

  private text(text: string, x: number, y: number, style: string): void {
    const [, weight, size, family] = /^(?:(bold) )?([\d.]+)px (.*)$/.exec(this.font) ?? [undefined, undefined, "12", "sans-serif"];
    if (!Number.isFinite(x + y)) return;
    const middle = this.textBaseline === "middle" ? ' dominant-baseline="central"' : "";
    this.parts.push(`<text x="${n(x)}" y="${n(y)}" font-family="${escaped(family!)}" font-size="${size}"${weight ? ' font-weight="bold"' : ""}${middle}${style}>${escaped(text)}</text>`);
  }
}
