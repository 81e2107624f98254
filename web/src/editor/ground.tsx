// What lies below the nodes: the site of the scenario's map, and a picture.

import { signal } from "@preact/signals";
import type { Camera } from "../camera";
import type { Theme } from "../draw";
import * as doc from "./document";
import { NumberField } from "./fields";
import { type Control, type Feature, fromControls } from "./model";

/** The picture stays in this page: nothing of it is sent or saved. */
export const picture = signal<ImageBitmap | null>(null);
export const controls = signal<[Control, Control]>([{ px: [0, 0], at: [0, 0] }, { px: [0, 0], at: [0, 0] }]);

/** Draws the picture and the site; `at` is where a place is on the screen. */
export function ground(g: CanvasRenderingContext2D, theme: Theme, camera: Camera, at: (x: number, y: number) => [number, number]): void {
  const m = picture.value ? fromControls(...controls.value) : null;
  if (picture.value && m) {
    const [ox, oy] = at(m.e, m.f), s = camera.scale;
    g.save();
    g.globalAlpha = 0.6;
    g.transform(m.a * s, -m.b * s, m.b * s, m.a * s, ox, oy);
    g.drawImage(picture.value, 0, 0);
    g.restore();
  }
  for (const feature of doc.drawn.value?.site ?? []) site(g, theme, feature, at);
}

function site(g: CanvasRenderingContext2D, theme: Theme, { name, shape, corners }: Feature, at: (x: number, y: number) => [number, number]): void {
  const points = corners.map(([x, y]) => at(x, y));
  g.strokeStyle = g.fillStyle = theme.faint;
  g.lineWidth = 1.5;
  g.beginPath();
  if (shape === "point") {
    const [x, y] = points[0];
    g.moveTo(x - 4, y); g.lineTo(x + 4, y); g.moveTo(x, y - 4); g.lineTo(x, y + 4);
  } else {
    points.forEach(([x, y]) => g.lineTo(x, y));
    if (shape === "area") { g.closePath(); g.globalAlpha = 0.15; g.fill(); g.globalAlpha = 1; }
  }
  g.stroke();
  const [x, y] = shape === "area" ? [Math.min(...points.map((p) => p[0])) + 4, Math.min(...points.map((p) => p[1])) + 10] : [points[0][0] + 6, points[0][1] + 10];
  g.font = "11px system-ui, sans-serif"; g.textBaseline = "middle";
  g.fillText(name, x, y);
}

export function Ground() {
  const load = async (file: File | undefined) => {
    if (!file) return;
    try {
      const image = await createImageBitmap(file);
      picture.value = image;
      // Until somebody says where it is, it is as wide as what the map shows.
      const c = doc.camera.value, wide = c ? doc.size.value.width / c.scale : 1000, x = c ? c.x - wide / 2 : 0, y = c ? c.y : 0;
      controls.value = [{ px: [0, image.height / 2], at: [Math.round(x), Math.round(y)] }, { px: [image.width, image.height / 2], at: [Math.round(x + wide), Math.round(y)] }];
    } catch {
      doc.complain(`${file.name} is no picture that this browser can show; take a PNG, JPEG or WebP`);
    }
  };
  const set = (k: 0 | 1, part: "px" | "at", axis: 0 | 1) => (v: number | null) => {
    if (v === null) return;
    const next: [Control, Control] = [structuredClone(controls.value[0]), structuredClone(controls.value[1])];
    next[k][part][axis] = v;
    controls.value = next;
  };
  const cell = (k: 0 | 1, part: "px" | "at", axis: 0 | 1, words: string) =>
    <td><NumberField label={`${words} of control point ${k + 1}`} value={controls.value[k][part][axis]} onCommit={set(k, part, axis)} /></td>;
  return (
    <details>
      <summary>Background picture</summary>
      <label class="field"><span>A picture of this machine; it is shown, not sent or saved</span>
        <input type="file" accept="image/*" onChange={(e) => void load(e.currentTarget.files?.[0])} /></label>
      {picture.value && (
        <>
          <table class="nodes">
            <thead><tr><th scope="col">Control point</th><th scope="col">right, px</th><th scope="col">down, px</th><th scope="col">x, m</th><th scope="col">y, m</th></tr></thead>
            <tbody>{([0, 1] as const).map((k) => (
              <tr key={k}><th scope="row">{k + 1}</th>{cell(k, "px", 0, "Pixels to the right")}{cell(k, "px", 1, "Pixels down")}{cell(k, "at", 0, "x")}{cell(k, "at", 1, "y")}</tr>
            ))}</tbody>
          </table>
          {!fromControls(...controls.value) && <p class="note">The two points must differ, in the picture and on the map.</p>}
          <button type="button" onClick={() => { picture.value = null; }}>Remove the picture</button>
        </>
      )}
    </details>
  );
}
