import { describe, expect, test } from "vitest";
import type { Frame } from "../src/frame";
import { heardBy, routesOf } from "../src/heard";
import { lossMarks, nextLoss } from "../src/lossmarks";
import { Motion } from "../src/motion";
import { Stretch, Stretches } from "../src/packets";
import { figures, greatest, quantities, rates } from "../src/quantities";
import { sequence, visible } from "../src/sequence";
import { type Dissected, dump, layers, reasonInWords } from "../src/told";

const S = 1e9;

describe("a frame layer by layer", () => {
  const nothing: Dissected = {
    node: 0, frame: 1, time_ns: 5, sent: true, bytes: 60, captured_bytes: 60, comment: null, radio: null, link: null, ip: null, messages: [], octets: "",
  };
  test("what a layer does not have is left out, and false is no word", () => {
    const radio = { header_bytes: 13, bad_fcs: false, rate_mbps: 2, channel_mhz: null, signal_dbm: -70, noise_dbm: null, retries: 0 };
    const link = { kind: "data", transmitter: "02:00:00:00:00:01", receiver: "02:00:00:00:00:02", retry: true, duration_us: 9, sequence: 0 };
    expect(layers({ ...nothing, radio, link })).toEqual([
      ["Radio", "2 Mb/s, signal -70 dBm"], ["Link: data", "from 02:00:00:00:00:01, to 02:00:00:00:00:02, retransmission, number 0, reserves 9 µs"],
    ]);
    expect(layers({ ...nothing, radio: { ...radio, bad_fcs: true } })[0][1]).toBe("FCS wrong, 2 Mb/s, signal -70 dBm");
  });
  test("routing messages have their fields, without those of the frame", () => {
    const messages = [{ frame: 1, src: "10.0.0.1", protocol: "dsr", type: "source_route", segments_left: 2, addresses: ["10.0.0.2", "10.0.0.3"] }];
    expect(layers({ ...nothing, messages })).toEqual([["DSR: source_route", "segments left 2, addresses [10.0.0.2, 10.0.0.3]"]]);
  });
  test("octets stand 16 to a line", () => {
    expect(dump("00ff".repeat(9))).toBe(`0000  ${"00 ff ".repeat(8).trim()}\n0010  00 ff`);
    expect(dump("")).toBe("");
  });
});

test("every reason of the tables is told in words", () => {
  expect(reasonInWords("QUEUE_FULL")).toMatch(/queue/);
  expect(reasonInWords("SOMETHING_NEW")).toBe("for another reason");
});

describe("strips", () => {
  const frame: Frame = {
    head: { rows: 4, bin_ns: 2 * S }, columns: {
      deliver: Float64Array.of(2, 4, 0, 8), mean: Float64Array.of(1, NaN, 3, 2000), most: Float64Array.of(1, NaN, 5, 4000),
    },
  };
  test("counts become rates at the middle of their stretch", () => {
    expect(rates(frame, "deliver")!.map((c) => [...c])).toEqual([[1, 3, 5, 7], [1, 2, 0, 4]]);
    expect(rates(frame, "drop/NO_ROUTE")).toBeNull();
  });
  test("figures have gaps where nothing was noted, and microseconds become milliseconds", () => {
    expect(figures(frame, "queued").slice(1)).toEqual([[1, null, 3, 2000], [1, null, 5, 4000]]);
    expect(figures(frame, "rtt_us")[2].at(3)).toBe(4);
  });
  test("the greatest value is found, and none among nothing", () => {
    expect([greatest([0, 3, null, 2]), greatest([0, null]), greatest([])]).toEqual([1, null, null]);
  });
  test("what the run has is offered", () => {
    const keys = quantities(["drop/NO_ROUTE", "routing/rreq"]).map((q) => q.key);
    expect(keys).toContain("drop/NO_ROUTE");
    expect(keys).toContain("routing/rreq");
    expect(keys).not.toContain("drop/LOOP");
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("losses", () => {
  const list = lossMarks({
    head: { rows: 3, reasons: ["NO_ROUTE"] }, columns: {
      time_ns: Float64Array.of(S, 2 * S, 2 * S), packet: Float64Array.of(7, 8, 9), x: Float64Array.of(1, 2, NaN), y: Float64Array.of(0, 0, NaN),
      node: Int32Array.of(0, 1, 2), reason: Uint8Array.of(1, 1, 0),
    },
  });
  test("marks have what the frame has", () => {
    expect(list[1]).toEqual({ t: 2 * S, node: 1, packet: 8, reason: "NO_ROUTE", x: 2, y: 0 });
    expect(list[2].reason).toBe("");
  });
  test("one goes from loss to loss, several of one moment among them", () => {
    expect(nextLoss(list, 0, null, true)?.packet).toBe(7);
    expect(nextLoss(list, 2 * S, 8, true)?.packet).toBe(9);
    expect(nextLoss(list, 2 * S, 9, true)).toBeNull();
    expect(nextLoss(list, 2 * S, 8, false)?.packet).toBe(7);
    expect(nextLoss(list, 1.5 * S, 99, false)?.packet).toBe(7);
    expect(nextLoss(list, S / 2, null, false)).toBeNull();
  });
});

describe("a time-sequence plot", () => {
  test("each event is what it is", () => {
    const s = sequence({
      head: { rows: 5, events: ["send", "ack", "resend", "timeout", "notice"] }, columns: {
        time_ns: Float64Array.of(1, 2, 3, 4, 5).map((t) => t * S), event: Uint8Array.of(1, 2, 3, 4, 5),
        octet: Float64Array.of(0, 0, 1460, 1460, 9), acked: Float64Array.of(0, 1460, 1460, 1460, 9),
      },
    });
    expect(s).toEqual({ sent: [[1, 0]], acked: [[2, 1460]], again: [[3, 1460]], timeouts: [[4, 1460]] });
  });
  test("the axis has what is seen", () => {
    const [low, high] = visible([0, 1, 2, 3], [0, 100, 200, 5000], [1, 2]);
    expect(low < 100 && low > 50 && high > 200 && high < 250).toBe(true);
    expect(visible([], [], [0, 1])).toEqual([0, 1]);
  });
});

describe("a node at a moment", () => {
  const EVENTS = ["receive", "send"];
  const stretches = async () => {
    const rows = [[1, 0, 5, 1], [2, 0, 6, 1], [3, 0, 5, 2], [4, 1, 5, 1], [5, 0, 6, 1], [6, 0, -1, 1]];
    const column = (k: number) => rows.map((r) => r[k]);
    const none = rows.map(() => 0);
    const s = new Stretches(async (from, to) => new Stretch({
      head: { rows: rows.length, from_ns: from, until_ns: to, events: EVENTS, classes: [], reasons: [] }, columns: {
        time_ns: Float64Array.from(column(0), (t) => t * S), node: Int32Array.from(column(1)), peer: Int32Array.from(column(2)), event: Uint8Array.from(column(3)),
        flow: Int32Array.from(none), packet: Float64Array.from(none), seq: Float64Array.from(none), class: Uint8Array.from(none), reason: Uint8Array.from(none),
      },
    }), 10 * S, 20 * S);
    await s.fetch(0);
    return s;
  };
  test("heard is what it received lately, from whom last first", async () => {
    const s = await stretches();
    expect(heardBy(s, 0, 7 * S, 10 * S)).toEqual({ heard: [[6, 5 * S], [5, S]], isComplete: true });
    expect(heardBy(s, 0, 7 * S, 3 * S).heard).toEqual([[6, 5 * S]]);
    expect(heardBy(s, 2, 7 * S, 10 * S).heard).toEqual([]);
  });
  test("routes are the next hops of what was sent", () => {
    const row = (next_hop: string | null, hops: number) => ({ next_hop, hops });
    expect(routesOf([row("a", 3), row(null, 0), row("b", 1), row("a", 2)])).toEqual([{ hop: "a", packets: 2, hops: 2 }, { hop: "b", packets: 1, hops: 1 }]);
  });
  test("a fix holds since its leg began", () => {
    const zero = Float64Array.of(0, 0);
    const m = new Motion({ head: { rows: 2, from_ns: 0, until_ns: 9 * S }, columns: {
      node: Int32Array.of(0, 0), from: Float64Array.of(S, 3 * S), until: Float64Array.of(3 * S, 4 * S), x: zero, y: zero, z: zero, vx: zero, vy: zero, vz: zero,
    } }, 1);
    expect([m.since(0, S / 2), m.since(0, 2 * S), m.since(0, 8 * S)]).toEqual([null, S, 3 * S]);
  });
});
