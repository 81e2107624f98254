import { describe, expect, test } from "vitest";
import { firstChoice, readTable, records, seriesOf, ticks } from "../src/sweep/table";

const HEAD = "metric,mean,ci95_low,ci95_high,values,runs_with_figure,runs";

describe("the table of a sweep", () => {
  test("quotes hold commas, lines and quotes", () => {
    expect(records('a,"b,1","c""d"\n"e\nf",,g\n')).toEqual([["a", "b,1", 'c"d'], ["e\nf", "", "g"]]);
    expect(records("a,b")).toEqual([["a", "b"]]);
    expect(records("")).toEqual([]);
  });
  test("an empty figure is none, not 0", () => {
    const t = readTable(`speed,${HEAD}\n2,totals.delivery_ratio,,,,0,0,5\n2,totals.sent,0,,,1,1,1\n`);
    expect(t.axes).toEqual(["speed"]);
    expect(t.cells.map((c) => [c.mean, c.runs])).toEqual([[null, "0 of 5"], [0, "1"]]);
  });
  test("another file is refused, and torn lines are left out", () => {
    expect(() => readTable("a,b,c\n1,2,3\n")).toThrow(/wayhop sweep again/);
    expect(() => readTable("")).toThrow();
    expect(readTable(`${HEAD}\ntotals.sent,1,,,1,1,1\ntotals.se`).cells).toHaveLength(1);
  });
  test("numbers go below the axis in their order, and each value of the other axis is a line", () => {
    const rows = ["dsr", "aodv"].flatMap((p) => [20, 5, 100].map((s) => `${p},${s},totals.delivery_ratio,${s / 100},,,1,1,1`));
    const t = readTable(`protocol,speed,${HEAD}\n${rows.join("\n")}\n`);
    const choice = firstChoice(t);
    expect([choice.x, choice.by]).toEqual([1, 0]);
    const { series, isNumeric } = seriesOf(t, choice);
    expect(isNumeric).toBe(true);
    expect(series.map((s) => [s.label, s.points.map((p) => p.x)])).toEqual([["dsr", [5, 20, 100]], ["aodv", [5, 20, 100]]]);
    expect(series[1].points[2].cell.mean).toBe(1);
  });
  test("a third axis is held at one value, and seeds alone are one point", () => {
    const rows = ["a", "b"].flatMap((x) => [1, 2].flatMap((y) => [7, 8, 9].map((z) => `${x},${y},${z},m,${y},,,1,1,1`)));
    const t = readTable(`x,y,z,${HEAD}\n${rows.join("\n")}\n`), choice = firstChoice(t);
    expect([choice.x, choice.by, choice.fixed[0]]).toEqual([2, 1, "a"]);
    expect(seriesOf(t, choice).series.map((s) => s.points.length)).toEqual([3, 3]);
    const alone = readTable(`${HEAD}\nm,4,3,5,9,9,9\n`);
    expect(seriesOf(alone, firstChoice(alone)).series[0].points.map((p) => p.cell.mean)).toEqual([4]);
  });
  test("ticks are round and cover the range", () => {
    for (const most of [1, 0.93]) expect(ticks(0, most)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    // An interval that goes a little beyond 1 does not make the axis half as long again.
    expect(ticks(0, 1.05).at(-1)).toBe(1.2);
    expect(ticks(3, 97)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(ticks(5, 5)).toHaveLength(1);
  });
});
