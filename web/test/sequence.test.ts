import { describe, expect, it } from "vitest";
import { looked } from "../src/sequence";

describe("the time-sequence plot of a program's connection", () => {
  it("marks what was sent again since the look before, at the oldest octet that was not acknowledged", () => {
    const columns = { time_ns: [1e9, 1.5e9, 2e9, 2.5e9], sent: [1000, 3000, 3000, 4000], sent_again: [0, 0, 1000, 1000], acked: [0, 1000, 1000, 4000] };
    const s = looked({ head: { rows: 4 }, columns } as never);
    expect(s.sent).toEqual([[1, 1000], [1.5, 3000], [2, 3000], [2.5, 4000]]);
    expect(s.acked.at(-1)).toEqual([2.5, 4000]);
    expect(s.again).toEqual([[2, 1000]]);
    expect(s.timeouts).toEqual([]);
  });
});
