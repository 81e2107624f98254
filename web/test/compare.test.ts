import { describe, expect, test } from "vitest";
import { parseAddress, showAddress } from "../src/address";
import { figures, rateOf, soFar } from "../src/difference";
import type { Frame } from "../src/frame";

const series: Frame = { head: { rows: 4, bin_ns: 0.5e9 }, columns: { deliver: Int32Array.of(2, 0, 4, 6) } };

describe("two runs", () => {
  test("counts up to a moment grow in proportion within a bin, and end with the run", () => {
    expect([0, 0.25, 0.5, 1, 1.25, 2, 9].map((s) => soFar(series, "deliver", s))).toEqual([0, 1, 2, 2, 4, 12, 12]);
    expect(rateOf(series, "deliver", [0.5, 1.5], 1)).toEqual([2, 10]);
    expect(soFar(series, "unknown", 1)).toBe(0);
  });
  test("figures have a difference where both runs define them", () => {
    const rows = figures(
      { delivery_ratio: 0.98, sent: 100, received: 98, latency_ms: { mean: 10, p95: null }, drops: { NO_ROUTE: 2 } },
      { delivery_ratio: 0.99, sent: 100, received: 99, latency_ms: null, drops: { MAC_RETRIES: 1 } },
    );
    const of = (name: string) => rows.find((r) => r.name === name);
    expect(of("delivered, %")).toMatchObject({ own: "98.00", beside: "99.00", difference: "+1.00" });
    expect(of("latency, mean, ms")).toMatchObject({ own: "10.0", beside: "–", difference: "–" });
    expect(of("dropped: no route")).toMatchObject({ own: "2", beside: "0", difference: "-2" });
    expect(of("dropped: MAC retries")).toMatchObject({ own: "0", beside: "1", difference: "+1" });
    expect(figures(null, { sent: 5 }).find((r) => r.name === "sent")).toMatchObject({ own: "–", difference: "–" });
  });
  test("the address holds both", () => {
    expect(parseAddress("?run=a&with=b").other).toBe("b");
    expect(showAddress({ ...parseAddress("?run=a&with=b") })).toContain("run=a&with=b");
  });
});
