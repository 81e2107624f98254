// What lies below the nodes: the site of the scenario's map, and a picture.

import { computed, effect, signal } from "@preact/signals";
import type { Camera } from "../camera";
import type { Theme } from "../draw";
import * as doc from "./document";
import { NumberField, TextField } from "./fields";
import { type Control, type Feature, fromControls, type Json, list, member, type Operation } from "./model";

/** The picture that the scenario names; null while there is none, or it cannot be shown. */
export const picture = signal<ImageBitmap | null>(null);
const OPACITY = 0.6;

const background = (tree = doc.shown.value.tree): Json | undefined => tree?.["background"];
const number = (v: Json | undefined): number => (typeof v === "number" ? v : 0);
const named = computed(() => { const p = member(background(), "picture"); return typeof p === "string" ? p : null; });

/** Where two points of the picture are; null without a picture, or with points that say nothing. */
export const controls = computed((): [Control, Control] | null => {
  const points = list(member(background(), "points"));
  if (points.length !== 2) return null;
  return points.map((p): Control => ({ px: [number(member(p, "right_px")), number(member(p, "down_px"))], at: [number(member(p, "x")), number(member(p, "y"))] })) as [Control, Control];
});
/** Whether the points are shown, and can be dragged. */
export const showsControls = signal(false);

let wanted = 0;
effect(() => {
  const path = named.value, mine = (wanted += 1);
  if (path === null) { picture.value = null; return; }
  doc.fetchPicture(path).then(createImageBitmap).then((p) => { if (mine === wanted) picture.value = p; }, (e: unknown) => {
    if (mine !== wanted) return;
    picture.value = null;
    doc.complain(e instanceof DOMException ? `${path} is not an image that this browser can display` : e);
  });
});

/** The edits that put a control point elsewhere. */
export const controlMoved = (k: number, x: number, y: number): Operation[] =>
  [["x", x], ["y", y]].map(([key, value]) => ({ op: "set", path: ["background", "points", k, String(key)], value: Math.round(Number(value) * 100) / 100 }));

/** A ring with a cross and its number at each control point. */
export function marks(g: CanvasRenderingContext2D, theme: Theme, at: (x: number, y: number) => [number, number]): void {
  if (!showsControls.value || !picture.value) return;
  (controls.value ?? []).forEach((c, k) => {
    const [x, y] = at(...c.at);
    for (const [width, colour] of [[5, theme.ground], [2, theme.attack]] as const) {
      g.lineWidth = width; g.strokeStyle = colour;
      g.beginPath(); g.arc(x, y, 8, 0, 2 * Math.PI); g.moveTo(x - 13, y); g.lineTo(x + 13, y); g.moveTo(x, y - 13); g.lineTo(x, y + 13); g.stroke();
    }
    g.font = "12px system-ui, sans-serif"; g.textBaseline = "middle"; g.lineWidth = 3; g.strokeStyle = theme.ground; g.fillStyle = theme.ink;
    g.strokeText(String(k + 1), x + 12, y - 12); g.fillText(String(k + 1), x + 12, y - 12);
  });
}

/** Draws the picture and the site; `at` is where a place is on the screen. */
export function ground(g: CanvasRenderingContext2D, theme: Theme, camera: Camera, at: (x: number, y: number) => [number, number]): void {
  const m = picture.value && controls.value ? fromControls(...controls.value) : null;
  if (picture.value && m) {
    const [ox, oy] = at(m.e, m.f), s = camera.scale;
    g.save();
    const opacity = member(background(), "opacity");
    g.globalAlpha = typeof opacity === "number" ? Math.min(1, Math.max(0, opacity)) : OPACITY;
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

/** A new picture is as wide as what the map shows, until somebody says where it is. */
function placed(width: number, height: number): Json {
  const c = doc.camera.value, wide = c ? doc.size.value.width / c.scale : 1000, x = c ? c.x - wide / 2 : 0, y = c ? c.y : 0;
  const point = (right_px: number, x: number) => ({ right_px, down_px: Math.round(height / 2), x: Math.round(x), y: Math.round(y) });
  return [point(0, x), point(width, x + Math.max(1, wide))];
}

async function take(file: File | undefined): Promise<void> {
  if (!file) return;
  const got = await doc.takePicture(file);
  if (!got) return;
  const operations: Operation[] = [{ op: "set", path: ["background", "picture"], value: got.picture }];
  if (!controls.value) operations.push({ op: "set", path: ["background", "points"], value: placed(got.width, got.height) });
  await doc.edit(`Background image ${got.picture}`, operations);
}

export function Ground() {
  const set = (k: 0 | 1, key: string, v: number | null) => { if (v !== null) void doc.edit(`Move control point ${k + 1}`, [{ op: "set", path: ["background", "points", k, key], value: v }]); };
  const cell = (k: 0 | 1, key: string, value: number, words: string) => <td><NumberField label={`${words} of control point ${k + 1}`} value={value} onCommit={(v) => set(k, key, v)} /></td>;
  const both = controls.value, opacity = member(background(doc.view.value.tree), "opacity");
  return (
    <details onToggle={(e) => { showsControls.value = e.currentTarget.open; }}>
      <summary>Background image</summary>
      <p class="note">A plan or an aerial photograph below the map. The image is copied to the scenario's folder; the scenario has its name and two control points. Runs ignore it.</p>
      <label class="field"><span>Choose an image: PNG, JPEG, GIF or WebP, up to 8 MiB</span>
        <input type="file" accept="image/png,image/jpeg,image/gif,image/webp" onChange={(e) => { const field = e.currentTarget; void take(field.files?.[0]).then(() => { field.value = ""; }); }} /></label>
      {named.value !== null && (
        <>
          <TextField visible label="File, relative to the scenario's folder" value={named.value} onCommit={(v) => { if (v.trim() !== "") void doc.edit("Change the image file", [{ op: "set", path: ["background", "picture"], value: v.trim() }]); }} />
          <NumberField visible label="Opacity, 0 to 1" value={typeof opacity === "number" ? opacity : null} min={0} empty placeholder={String(OPACITY)}
            onCommit={(v) => void doc.edit("Change the opacity", [v === null ? { op: "remove", path: ["background", "opacity"] } : { op: "set", path: ["background", "opacity"], value: Math.min(1, v) }])} />
          {both && (
            <table class="nodes">
              <thead><tr><th scope="col">Control point</th><th scope="col">right, px</th><th scope="col">down, px</th><th scope="col">x, m</th><th scope="col">y, m</th></tr></thead>
              <tbody>{([0, 1] as const).map((k) => (
                <tr key={k}><th scope="row">{k + 1}</th>{cell(k, "right_px", both[k].px[0], "Pixels to the right")}{cell(k, "down_px", both[k].px[1], "Pixels down")}{cell(k, "x", both[k].at[0], "x")}{cell(k, "y", both[k].at[1], "y")}</tr>
              ))}</tbody>
            </table>
          )}
          {both && !fromControls(...both) && <p class="note">The two points must differ, both in the image and on the map.</p>}
          <p class="note">The two crosses on the map are the control points; drag them to their positions.</p>
          <button type="button" onClick={() => void doc.edit("Remove the image", [{ op: "remove", path: ["background"] }])}>Remove the image</button>
        </>
      )}
    </details>
  );
}
