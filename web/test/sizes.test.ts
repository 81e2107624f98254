import { describe, expect, it } from "vitest";
import { fixInWords, metresInWords, qualityOf, takenAt } from "../src/fix";
import { isFigure, lengths, listName, quantities } from "../src/quantities";

describe("sizes over time", () => {
  const frame = { head: { rows: 4, bin_ns: 1e9 }, columns: { "mean/queue": [2, NaN, 0, NaN], "most/queue": [5, NaN, 0, NaN] } } as never;
  it("have a point where somebody looked, and 0 is one", () => {
    const [seconds, mean, most] = lengths(frame, "queue")!;
    expect([[...seconds], mean, most]).toEqual([[0.5, 2.5], [2, 0], [5, 0]]);
    expect(lengths(frame, "routes")).toBeNull();
  });
  it("can be chosen by their names", () => {
    const found = quantities([], ["queue", "route_cache"]).filter((q) => q.key.startsWith("sizes/"));
    expect(found.map((q) => [q.key, q.label])).toEqual([["sizes/queue", "interface queue, length"], ["sizes/route_cache", "route cache, length"]]);
    expect([isFigure("sizes/queue"), isFigure("sends/hops"), isFigure("drop/NO_ROUTE")]).toEqual([true, true, false]);
    expect(listName("forwarding")).toBe("forwarding table");
  });
});

describe("a fix in words", () => {
  it("says kind, accuracy, satellites and corrections, from the table", () => {
    const q = qualityOf({ status: "rtk-fixed", mode: 3, accuracy_m: 0.013, vertical_m: 0.02, accuracy_from: "gst", satellites: 14, corrections_age_s: 1.5, fix_time_ns: 1_795_348_800e9 });
    expect(fixInWords(q)).toBe("RTK, fixed, ± 13 mm, height ± 20 mm (reported by the receiver), 14 satellites, corrections 1.5 s old");
    // date -u -d @1795348800
    expect(takenAt(q.time_unix_s!)).toBe("2026-11-22 12:00:00 UTC");
  });
  it("leaves out what nobody says, and takes an answer of the control socket, too", () => {
    expect(fixInWords(qualityOf({ status: "3d", mode: 3, accuracy_m: null, time_unix_s: 12.5 }))).toBe("3D");
    expect([qualityOf({ time_unix_s: 12.5 }).time_unix_s, fixInWords(qualityOf({}))]).toEqual([12.5, "unknown quality"]);
    expect(takenAt(12.5)).toBe("1970-01-01 00:00:12.5 UTC");
  });
  it("has lengths that are read easily", () => expect([0.004, 0.1, 2.345, 123.4].map(metresInWords)).toEqual(["4 mm", "0.10 m", "2.35 m", "123 m"]));
});
