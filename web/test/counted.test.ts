import { describe, expect, test } from "vitest";
import { isCounted, share, untilCounted } from "../src/counted";
import type { Frame } from "../src/frame";
import { greatest, rates } from "../src/quantities";

const counted = (done: number, groups: number): Frame => ({ head: { rows: 0, done, groups }, columns: {} });

describe("counts that grow", () => {
  test("a share, and nothing to wait for where nothing is counted in parts", () => {
    expect([counted(0, 8), counted(2, 8), counted(8, 8)].map(share)).toEqual([0, 0.25, 1]);
    expect([counted(7, 8), counted(8, 8), counted(0, 0), { head: { rows: 0 }, columns: {} }].map(isCounted)).toEqual([false, true, true, true]);
  });
  test("they are asked for until they are complete", async () => {
    const answers = [counted(1, 3), counted(3, 3), counted(3, 3)], taken: Frame[] = [];
    let asked = 0;
    await untilCounted(() => Promise.resolve(answers[asked++]), () => true, (frame) => taken.push(frame));
    expect([asked, taken]).toEqual([2, answers.slice(0, 2)]);
  });
  test("an answer that nobody wants any more is not taken", async () => {
    const taken: Frame[] = [];
    let isWanted = true;
    await untilCounted(() => { isWanted = false; return Promise.resolve(counted(1, 1)); }, () => isWanted, (frame) => taken.push(frame));
    expect(taken).toEqual([]);
  });
});

describe("counts over time", () => {
  const frame = (values: number[], end_ns?: number): Frame => ({ head: { rows: values.length, bin_ns: 2e9, ...(end_ns ? { end_ns } : {}) }, columns: { drop: Float64Array.from(values) } });
  test("what is not counted yet is null, and not 0", () => {
    const [seconds, values] = rates(frame([4, 0, NaN, NaN]), "drop")!;
    expect([...seconds]).toEqual([1, 3, 5, 7]);
    expect(values).toEqual([2, 0, null, null]);
    expect(greatest(values)).toBe(0);
    expect(greatest(rates(frame([NaN, NaN]), "drop")![1])).toBeNull();
    expect(rates(frame([1]), "deliver")).toBeNull();
  });
  test("the last part is as long as the run goes on", () => {
    const [seconds, values] = rates(frame([4, 4, 4], 5e9), "drop")!;
    expect([...seconds]).toEqual([1, 3, 4.5]);
    expect(values).toEqual([2, 2, 4]);
  });
  test("many parts become 150 points, and none is left out", () => {
    const [seconds, values] = rates(frame(Array.from({ length: 301 }, () => 1)), "drop")!;
    expect(seconds.length).toBe(101);
    expect(values.at(-1)).toBe(0.5);
    expect(values.reduce((sum: number, v, i) => sum + v! * (i < 100 ? 6 : 2), 0)).toBeCloseTo(301);
  });
});
