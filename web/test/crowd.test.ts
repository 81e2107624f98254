import { describe, expect, test } from "vitest";
import { clip, line, pixel, ring } from "../src/crowd";

/** The pixels that a line sets, as text: one row a line. */
function drawn(width: number, height: number, ...ends: [number, number, number, number]): string[] {
  const pixels = new Uint32Array(width * height);
  line(pixels, width, height, ...ends, 1);
  return Array.from({ length: height }, (_, y) => Array.from(pixels.subarray(y * width, (y + 1) * width), (p) => (p ? "#" : ".")).join(""));
}

describe("many links", () => {
  test("a colour is R, G, B, A in memory", () => {
    expect([...new Uint8Array(Uint32Array.of(pixel("#0172b2")).buffer)]).toEqual([1, 0x72, 0xb2, 255]);
  });
  test("a line joins its ends", () => {
    expect(drawn(4, 3, 0.5, 0.5, 3, 0.5)).toEqual(["####", "....", "...."]);
    expect(drawn(4, 3, 1.5, 2, 1.5, 0.5)).toEqual([".#..", ".#..", ".#.."]);
    expect(drawn(3, 3, 2, 2, 0.5, 0.5)).toEqual(["#..", ".#.", "..#"]);
  });
  test("a line between two rows of pixels covers half of both, and two lines more than one", () => {
    const pixels = new Uint32Array(6), alphas = () => [...pixels].map((p) => p >>> 24);
    line(pixels, 3, 2, 0.5, 1, 2, 1, pixel("#010203"));
    expect(alphas()).toEqual([128, 128, 128, 127, 127, 127]);
    line(pixels, 3, 2, 0.5, 1, 2, 1, pixel("#010203"));
    expect(Math.min(...alphas())).toBeGreaterThan(185);
    expect(pixels[0] & 0xffffff).toBe(0x030201);
  });
  test("what lies outside is cut off, or not drawn", () => {
    expect(drawn(4, 2, -1e9, 0.5, 1e9, 0.5)).toEqual(["####", "...."]);
    expect(drawn(2, 4, 0.5, 1e9, 0.5, -1e9)).toEqual(["#.", "#.", "#.", "#."]);
    expect(drawn(3, 2, -5, -1, 8, -1)).toEqual(["...", "..."]);
    expect(drawn(3, 2, NaN, 0, 2, 1)).toEqual(["...", "..."]);
    expect(clip(-10, 0, 10, 0, 11, 5)).toEqual([0.5, 1]);
    expect(clip(20, 20, 30, 30, 11, 5)).toBeNull();
  });
  test("a ring is round, and that of a routing packet dashed", () => {
    const of = (dash: number) => { const pixels = new Uint32Array(31 * 31); ring(pixels, 31, 31, 15.5, 15.5, 10, 1, 128, dash); return pixels; };
    const round = of(0), set = [...round.keys()].filter((i) => round[i] > 0);
    for (const i of set) expect(Math.abs(Math.hypot((i % 31) - 15, Math.floor(i / 31) - 15) - 9.6)).toBeLessThan(1.2);
    expect(set.length).toBeGreaterThan(2 * Math.PI * 9);
    const dashed = [...of(3)].filter((p) => p > 0).length;
    expect(dashed / set.length).toBeGreaterThan(0.4);
    expect(dashed / set.length).toBeLessThan(0.7);
    expect(round[set[0]] >>> 24).toBe(128);
    const none = new Uint32Array(9);
    for (const [x, y] of [[NaN, 1], [40, 1], [1, -40]]) ring(none, 3, 3, x, y, 10, 1, 128, 0);
    expect([...none].some((p) => p > 0)).toBe(false);
  });
});
