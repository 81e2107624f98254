import { describe, expect, test } from "vitest";
import { clip, line, pixel } from "../src/crowd";

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
    expect(drawn(4, 3, 0, 0, 3, 0)).toEqual(["####", "....", "...."]);
    expect(drawn(4, 3, 1, 2, 1, 0)).toEqual([".#..", ".#..", ".#.."]);
    expect(drawn(3, 3, 2, 2, 0, 0)).toEqual(["#..", ".#.", "..#"]);
  });
  test("what lies outside is cut off, or not drawn", () => {
    expect(drawn(4, 2, -1e9, 1, 1e9, 1)).toEqual(["....", "####"]);
    expect(drawn(3, 2, -5, -1, 8, -1)).toEqual(["...", "..."]);
    expect(drawn(3, 2, NaN, 0, 2, 1)).toEqual(["...", "..."]);
    expect(clip(-10, 0, 10, 0, 11, 5)).toEqual([0.5, 1]);
    expect(clip(20, 20, 30, 30, 11, 5)).toBeNull();
  });
});
