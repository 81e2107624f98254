// What the address of the page holds, so that a link shows what its sender saw.

import type { Camera } from "./camera";

export interface View { run: string | null; other?: string; t: number; speed: number; camera: Camera | null; node: number | null; packet: number | null }

export function parseAddress(search: string): View {
  const q = new URLSearchParams(search);
  const number = (name: string) => {
    const text = q.get(name);
    const value = Number(text);
    return text !== null && text !== "" && Number.isFinite(value) ? value : null;
  };
  const camera = (q.get("camera") ?? "").split(",").map(Number);
  const isCamera = camera.length === 3 && camera.every(Number.isFinite) && camera[2] > 0;
  const index = (name: string) => {
    const value = number(name);
    return value !== null && Number.isSafeInteger(value) && value >= 0 ? value : null;
  };
  const speed = number("speed");
  return {
    run: q.get("run"),
    other: q.get("with") ?? undefined,
    t: Math.max(0, Math.round((number("t") ?? 0) * 1e9)),
    speed: speed !== null && speed >= 0.1 && speed <= 100 ? speed : 1,
    camera: isCamera ? { x: camera[0], y: camera[1], scale: camera[2] } : null,
    node: index("node"),
    packet: index("packet"),
  };
}

export function showAddress(v: View): string {
  const q = new URLSearchParams();
  if (v.run !== null) q.set("run", v.run);
  if (v.other !== undefined) q.set("with", v.other);
  q.set("t", String(Math.round(v.t) / 1e9));
  if (v.speed !== 1) q.set("speed", String(v.speed));
  if (v.camera) q.set("camera", [v.camera.x, v.camera.y, v.camera.scale].map((n) => Number(n.toPrecision(6))).join(","));
  if (v.node !== null) q.set("node", String(v.node));
  if (v.packet !== null) q.set("packet", String(v.packet));
  return `?${q}`;
}
