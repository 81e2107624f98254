import { describe, expect, test } from "vitest";
import type { Frame } from "../src/frame";
import { heardPairs, marksAt, tell as tellHop } from "../src/marks";
import { LiveRun, tell } from "../src/live/run";

const S = 1e9;
const ABOUT = { hub: "h", name: "n", world: "emulation", protocol: "dsr", speed: null, range_m: 250, nodes: [0, 1, 2], names: ["a", "b", "c"], addresses: ["10.0.0.1", "10.0.0.2", "10.0.0.3"], flows: [] };

/** Events of packets: [time, node, event, peer, class]. */
function frame(from: number, until: number, rows: [number, number, string, number, string][]): Frame {
  const events = [...new Set(rows.map((r) => r[2]))], classes = [...new Set(rows.map((r) => r[4]))];
  return {
    head: { rows: rows.length, from_ns: from, until_ns: until, events, classes, reasons: [] },
    columns: {
      time_ns: Float64Array.from(rows.map((r) => r[0])), node: Int32Array.from(rows.map((r) => r[1])),
      peer: Int32Array.from(rows.map((r) => r[3])), flow: new Int32Array(rows.length).fill(-1),
      packet: new Float64Array(rows.length), seq: new Float64Array(rows.length).fill(-1),
      event: Uint8Array.from(rows.map((r) => 1 + events.indexOf(r[2]))), class: Uint8Array.from(rows.map((r) => 1 + classes.indexOf(r[4]))),
      reason: new Uint8Array(rows.length),
    },
  };
}

describe("queues and tables of a run under way", () => {
  const queues = (time_s: number, ...counts: number[]) => ({ time_s, sizes: counts.map((count, k) => ({ what: "queue", count, interface: k })) });
  test("are those of the last look up to a moment", () => {
    const run = new LiveRun(ABOUT);
    expect(run.lookAt(1, 9 * S)).toBeNull();
    run.sized(1, queues(1, 3));
    run.sized(1, queues(2, 5));
    expect([0.5, 1.5, 2, 9].map((t) => run.lookAt(1, t * S)?.sizes[0].count)).toEqual([undefined, 3, 5, 5]);
    expect(run.lookAt(0, 9 * S)).toBeNull();
  });
  test("are charted as those of a recorded run: several queues together, a list that is not told is empty", () => {
    const run = new LiveRun(ABOUT);
    run.packets.add(frame(0, 4 * S, []));
    run.sized(0, queues(0.5, 2, 4));
    run.sized(1, { time_s: 0.6, sizes: [{ what: "queue", count: 0 }, { what: "routes", count: 8 }] });
    run.sized(0, queues(3.5, 1));
    const all = run.lengths(null, 4), own = run.lengths(0, 4);
    expect(all.head["lists"]).toEqual(["queue", "routes"]);
    expect([...all.columns["mean/queue"]]).toEqual([3, NaN, NaN, 1]);
    expect([...all.columns["most/queue"]]).toEqual([6, NaN, NaN, 1]);
    expect([...all.columns["mean/routes"]]).toEqual([4, NaN, NaN, 0]);
    expect([...own.columns["mean/queue"]]).toEqual([6, NaN, NaN, 1]);
    expect(own.head["lists"]).toEqual(["queue"]);
  });
});

describe("a run under way", () => {
  test("its latest events are all that will come of a moment about which nothing was heard", () => {
    const run = new LiveRun(ABOUT);
    const seen: number[] = [];
    expect(run.packets.back(60 * S, 0, 12, (_, row) => seen.push(row))).toBe(true);
    expect(seen).toEqual([]);
  });
  test("a node is on the line between two moments at which its place is known", () => {
    const run = new LiveRun(ABOUT);
    expect(run.at(0, 0)).toBeNull();
    expect(run.bounds()).toBeNull();
    run.place({ time_s: 1, at: [[0, 0, 0], null, [5, 5, 0]], moved: [false, false, false] }, 0);
    run.place({ time_s: 2, at: [[10, -20, 0], [1, 1, 1], [5, 5, 0]], moved: [true, false, false] }, 100);
    expect(run.at(0, 1.25 * S)).toEqual({ x: 2.5, y: -5, z: 0 });
    expect(run.at(1, 1.5 * S)).toBeNull();
    expect(run.at(0, 9 * S)).toEqual({ x: 10, y: -20, z: 0 });
    expect(run.at(0, 0.5 * S)).toEqual({ x: 0, y: 0, z: 0 });
    expect(run.speed(0, 2 * S)).toBeCloseTo(Math.hypot(10, 20));
    expect(run.bounds()).toEqual([1, -20, 10, 5]);
    expect(run.moved).toEqual([true, false, false]);
  });
  test("its clock goes on a little behind what came, and not on and on without a word", () => {
    const run = new LiveRun(ABOUT);
    run.place({ time_s: 10, at: [], moved: [] }, 5000);
    run.place({ time_s: 11, at: [], moved: [] }, 6000);
    expect(run.edge(6000)).toBe(10.7 * S);
    expect(run.edge(6300)).toBe(11 * S);
    expect(run.edge(60_000)).toBe(12.2 * S);
  });
  test("packets that came are found by their moment, counted, and the oldest go", () => {
    const run = new LiveRun(ABOUT);
    run.packets.add(frame(1 * S, 2 * S, [[1.5 * S, 0, "transmit", 1, "data"], [1.5 * S, 1, "receive", 0, "data"]]));
    run.packets.add(frame(2 * S, 4 * S, [[3 * S, 1, "deliver", -1, "data"]]));
    expect(run.packets.at(0.5 * S)).toBeUndefined();
    expect(run.packets.at(2 * S)?.time[0]).toBe(3 * S);
    expect(run.packets.at(4 * S)).toBeUndefined();
    const counts = run.counts(1, 4);
    expect([...counts.columns["deliver"]]).toEqual([0, 0, 0, 1]);
    expect([...counts.columns["transmit"]]).toEqual([0, 0, 0, 0]);
    expect([...run.counts(null, 4).columns["transmit"]]).toEqual([0, 1, 0, 0]);
    const many = Array.from({ length: 200_000 }, (): [number, number, string, number, string] => [0, 0, "send", 1, "data"]);
    for (let i = 2; i < 8; i += 1) run.packets.add(frame(2 * i * S, (2 * i + 2) * S, many));
    expect(run.packets.begin).toBeGreaterThan(2 * S);
    expect(run.packets.at(15 * S)).toBeDefined();
  });
  test("packets of programs are data, and links are those who heard each other", () => {
    const run = new LiveRun(ABOUT);
    run.packets.add(frame(0, S, [
      [0.5 * S, 0, "send", 1, "data"], [0.5 * S, 0, "transmit", 1, "data"], [0.6 * S, 1, "receive", 0, "data"],
      [0.7 * S, 2, "transmit", -2, "dsr-request"], [0.7 * S, 1, "receive", 2, "dsr-request"], [0.8 * S, 0, "receive", 1, "data"],
    ]));
    const marks = marksAt(run.packets, 0.9 * S, 1);
    expect(marks.routes).toMatchObject([{ node: 0, peer: 1, flow: -1, packets: 1 }]);
    expect(marks.sendings.map((s) => s.routing)).toEqual([true]);
    expect(heardPairs(run.packets, 0.9 * S)).toEqual([0, 1, 1, 2]);
    expect(tellHop(run.packets.at(0)!.row(1), (n) => ABOUT.names[n])).toBe("a: transmit data packet to b");
  });
  test("what else happened is said in words", () => {
    expect(tell({ kind: "route", destination: "10.0.0.9", next_hop: "10.0.0.2", hops: 3 })).toBe("route to 10.0.0.9 via 10.0.0.2, 3 hops");
    expect(tell({ kind: "route", destination: "10.0.0.9" })).toBe("lost the route to 10.0.0.9");
    expect(tell({ kind: "link", to: 2, state: { loss: 0.5 } })).toBe('link to node 2: {"loss":0.5}');
    const run = new LiveRun(ABOUT);
    for (let i = 0; i < 600; i += 1) run.remark(0, { kind: "lost", count: i, time_s: i });
    run.remark(1, { kind: "position", time_s: 1 });
    expect(run.remarks.length).toBe(500);
    expect(run.remarks[0].t).toBe(100 * S);
  });
});
