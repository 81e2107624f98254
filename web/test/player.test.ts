import { describe, expect, test } from "vitest";
import { parseAddress, showAddress } from "../src/address";
import { fit, roundLength, showLength, toGround, toScreen, zoomAt } from "../src/camera";
import { causeOf } from "../src/causes";
import { advance, nextSpeed, parseMoment, showMoment } from "../src/clock";
import { decode, type Frame } from "../src/frame";
import { pairsInRange } from "../src/links";
import { marksAt } from "../src/marks";
import { bounds, Motion } from "../src/motion";
import { lossPlaces } from "../src/draw";
import { Stretch, Stretches } from "../src/packets";
import { onRing } from "../src/ring";
import { currentStep, parsePacket } from "../src/told";

const S = 1e9;

/** A frame by hand, as docs/reference/studio-api.md describes it. */
function octets(head: object, ...columns: ArrayLike<number>[]): ArrayBuffer {
  const body = columns.map((c) => new Uint8Array(Float64Array.from(c as number[]).buffer));
  let text = JSON.stringify(head);
  text = text.padEnd(Math.ceil(text.length / 8) * 8);
  const all = new Uint8Array(8 + text.length + body.reduce((n, b) => n + b.length, 0));
  all.set(new TextEncoder().encode("WHS1"));
  new DataView(all.buffer).setUint32(4, text.length, true);
  all.set(new TextEncoder().encode(text), 8);
  let at = 8 + text.length;
  for (const b of body) { all.set(b, at); at += b.length; }
  return all.buffer;
}

describe("frame", () => {
  test("columns are found by name and offset", () => {
    const f = decode(octets({ rows: 2, columns: [{ name: "b", type: "f64", offset: 16 }, { name: "a", type: "f64", offset: 0 }] }, [1, 2], [3, 4]));
    expect([...f.columns["a"], ...f.columns["b"]]).toEqual([1, 2, 3, 4]);
  });
  test("another version is refused", () => {
    const other = octets({ rows: 0, columns: [] });
    new Uint8Array(other)[3] = 50;
    expect(() => decode(other)).toThrow(/reload the page/);
    expect(() => decode(new ArrayBuffer(3))).toThrow();
  });
});

/** Node 0 stands until 2 s, then goes east at 3 m/s until 4 s; node 1 is known from 1 s on. */
function motion(): [Motion, Frame] {
  const columns = {
    node: Int32Array.of(0, 0, 1), from: Float64Array.of(0, 2 * S, S), until: Float64Array.of(2 * S, 4 * S, Infinity),
    x: Float64Array.of(10, 10, -5), y: Float64Array.of(20, 20, 0), z: Float64Array.of(0, 0, 1),
    vx: Float64Array.of(0, 3, 0), vy: Float64Array.of(0, 0, -1), vz: Float64Array.of(0, 0, 0),
  };
  const frame: Frame = { head: { rows: 3, from_ns: 0, until_ns: 10 * S }, columns };
  return [new Motion(frame, 3), frame];
}

describe("motion", () => {
  test("place = begin + velocity x time, and a leg's end holds", () => {
    const [m] = motion();
    expect(m.at(0, 1.5 * S)).toEqual({ x: 10, y: 20, z: 0 });
    expect(m.at(0, 3 * S)).toEqual({ x: 13, y: 20, z: 0 });
    expect(m.at(0, 9 * S)).toEqual({ x: 16, y: 20, z: 0 });
    expect(m.at(0, 2.5 * S)?.x).toBe(11.5);
    expect(m.speed(0, 3 * S)).toBe(3);
    expect(m.speed(0, 5 * S)).toBe(0);
  });
  test("nobody knows where a node is before its first leg, or without one", () => {
    const [m] = motion();
    expect(m.at(1, 0.5 * S)).toBeNull();
    expect(m.at(1, 3 * S)).toEqual({ x: -5, y: -2, z: 1 });
    expect(m.at(2, 3 * S)).toBeNull();
  });
  test("the places of all nodes are those of each", () => {
    const [m] = motion(), [xs, ys, zs] = [0, 1, 2].map(() => new Float64Array(4).fill(7));
    for (const s of [0.5, 1.5, 3, 9, 2.5]) {
      m.fill(s * S, xs, ys, zs);
      for (const n of [0, 1]) expect([xs[n], ys[n], zs[n]]).toEqual(Object.values(m.at(n, s * S) ?? { x: NaN, y: NaN, z: NaN }));
      // Of the others nobody knows, of one more than the run has neither.
      expect([xs[2], ys[2], xs[3], zs[3]]).toEqual([NaN, NaN, NaN, NaN]);
    }
  });
  test("jumps in time find the same leg as going on does", () => {
    const n = 200;
    const column = (f: (i: number) => number) => Float64Array.from({ length: n }, (_, i) => f(i));
    const frame: Frame = { head: { rows: n, from_ns: 0, until_ns: n * S }, columns: {
      node: new Int32Array(n), from: column((i) => i * S), until: column((i) => (i + 1) * S),
      x: column((i) => i * i), y: column(() => 0), z: column(() => 0), vx: column((i) => 2 * i + 1), vy: column(() => 0), vz: column(() => 0),
    } };
    const m = new Motion(frame, 1);
    for (const s of [0.5, 150.25, 3, 199.9, 2.75, 90, 91, 40.5]) {
      const i = Math.floor(s);
      expect(m.at(0, s * S)?.x).toBeCloseTo(i * i + (2 * i + 1) * (s - i), 6);
    }
  });
  test("the box holds begins and ends", () => {
    expect(bounds(motion()[1], 10 * S)).toEqual([-5, -9, 16, 20]);
  });
  test("a place that is not a number is not known, and in no box", () => {
    const [, frame] = motion();
    frame.columns["x"].fill(NaN);
    expect([new Motion(frame, 3).at(0, 2 * S), new Motion(frame, 3).speed(0, 2 * S), bounds(frame, 10 * S)]).toEqual([null, 0, null]);
  });
});

test("the ring is in the middle of the map, whatever the map shows", () => {
  const xs = new Float64Array(4).fill(NaN), ys = new Float64Array(4).fill(NaN);
  // 200 x 300 pixels of 2 m each around (1000, 50): the radius is 0.36 x 200 x 2 m.
  onRing(xs, ys, { x: 1000, y: 50, scale: 0.5 }, 200, 300);
  [[1000, 194], [1144, 50], [1000, -94], [856, 50]].forEach(([x, y], n) => {
    expect(xs[n]).toBeCloseTo(x);
    expect(ys[n]).toBeCloseTo(y);
  });
});

describe("links", () => {
  /** Numbers from -0.5 to 0.5 (Park and Miller, 1988). */
  const draws = (seed: number) => () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647 - 0.5; };
  const byAll = (xs: Float64Array, ys: Float64Array, zs: Float64Array, range: number): string[] => {
    const pairs: string[] = [];
    for (let i = 0; i < xs.length; i += 1) for (let j = i + 1; j < xs.length; j += 1) {
      if (Math.hypot(xs[i] - xs[j], ys[i] - ys[j], zs[i] - zs[j]) <= range) pairs.push(`${i}-${j}`);
    }
    return pairs.sort();
  };
  const byGrid = (...of: Parameters<typeof pairsInRange>): string[] => {
    const flat = pairsInRange(...of);
    return Array.from({ length: flat.length / 2 }, (_, k) => `${flat[2 * k]}-${flat[2 * k + 1]}`).sort();
  };
  test("they are the pairs that a comparison of all with all finds", () => {
    const draw = draws(7);
    for (const [n, wide, high, up, range] of [[300, 2000, 2000, 0, 250], [300, 2000, 2000, 300, 250], [400, 1e6, 10, 0, 900], [200, 10, 1e6, 0, 4000], [100, 1e9, 1e9, 0, 4e7], [300, 100, 100, 0, 1e6], [50, 1000, 1000, 0, 0.001]]) {
      const [xs, ys, zs] = [wide, high, up].map((size) => Float64Array.from({ length: n }, () => draw() * size));
      for (const i of [0, 5, n - 1]) xs[i] = ys[i] = zs[i] = NaN;
      const expected = byAll(xs, ys, zs, range);
      expect(byGrid(xs, ys, zs, range)).toEqual(expected);
      if (range > 1) expect(expected.length).toBeGreaterThan(10);
    }
  });
  test("nodes at one place are in range of each other, and nobody is without places or range", () => {
    const zero = new Float64Array(3), nowhere = new Float64Array(3).fill(NaN);
    expect(byGrid(zero, zero, zero, 1)).toEqual(["0-1", "0-2", "1-2"]);
    expect(byGrid(zero, zero, zero, 0)).toEqual([]);
    expect(byGrid(nowhere, nowhere, nowhere, 5)).toEqual([]);
    expect(byGrid(new Float64Array(), new Float64Array(), new Float64Array(), 5)).toEqual([]);
  });
});

describe("clock", () => {
  test("time goes on by what passed, times the speed, to the end", () => {
    expect(advance(S, 500, 10, 100 * S)).toBe(6 * S);
    expect(advance(99 * S, 500, 10, 100 * S)).toBe(100 * S);
  });
  test("moments are read and shown", () => {
    expect([parseMoment("90"), parseMoment("1:30"), parseMoment(" 1:00:00.5 ")]).toEqual([90 * S, 90 * S, 3600.5 * S]);
    expect([parseMoment(""), parseMoment("x"), parseMoment("-1"), parseMoment("1:2:3:4")]).toEqual([null, null, null, null]);
    expect([showMoment(90 * S), showMoment(3661.0625 * S), showMoment(59.9999 * S)]).toEqual(["1:30.000", "1:01:01.062", "0:59.999"]);
  });
  test("speeds go from 0.1 to 100", () => {
    expect([nextSpeed(1, true), nextSpeed(1, false), nextSpeed(100, true), nextSpeed(0.1, false)]).toEqual([2, 0.5, 100, 0.1]);
  });
});

describe("camera", () => {
  const camera = { x: 100, y: 50, scale: 2 };
  test("north is up", () => {
    expect(toScreen(camera, 400, 300, 110, 60)).toEqual([220, 130]);
    expect(toGround(camera, 400, 300, 220, 130)).toEqual([110, 60]);
  });
  test("what is below the pointer stays there", () => {
    const zoomed = zoomAt(camera, 400, 300, 30, 40, 3);
    const [x, y] = toGround(camera, 400, 300, 30, 40);
    const [sx, sy] = toScreen(zoomed, 400, 300, x, y);
    expect([sx, sy].map((v) => Math.round(v * 1e6) / 1e6)).toEqual([30, 40]);
  });
  test("everything fits", () => {
    const c = fit([0, 0, 1500, 300], 900, 500);
    for (const [x, y] of [[0, 0], [1500, 300]]) {
      const [sx, sy] = toScreen(c, 900, 500, x, y);
      expect(sx >= 0 && sx <= 900 && sy >= 0 && sy <= 500).toBe(true);
    }
  });
  test("lengths are round", () => {
    expect([0.3, 7, 20, 21, 700].map(roundLength)).toEqual([0.5, 10, 20, 50, 1000]);
    expect([0.5, 20, 2000].map(showLength)).toEqual(["50 cm", "20 m", "2 km"]);
  });
});

describe("address", () => {
  test("a view is read as it was written", () => {
    const view = { run: "a b&c", t: 61.7 * S, speed: 5, camera: { x: 1.5, y: -2, scale: 0.25 }, node: 3, packet: 2741 };
    expect(parseAddress(showAddress(view))).toEqual(view);
  });
  test("a moment is kept to the nanosecond", () => {
    const view = { run: "a", t: 118_806_123_457, speed: 1, camera: null, node: null, packet: null };
    expect(parseAddress(showAddress(view)).t).toBe(view.t);
  });
  test("nonsense is left out", () => {
    const none = { run: null, t: 0, speed: 1, camera: null, node: null, packet: null };
    expect(parseAddress("?t=x&speed=1e9&camera=1,2&node=-1&packet=1e99")).toEqual(none);
    expect(parseAddress("?t=-5&speed=&camera=1,2,0&node=1.5")).toEqual(none);
  });
});

const EVENTS = ["transmit", "drop", "forward"];

/** One event each second; the `i`th of kind `i` mod 3. */
function stretch(from: number, to: number): Stretch {
  const times = Array.from({ length: 100 }, (_, i) => i * S).filter((t) => t >= from && t < to);
  const column = (f: (i: number) => number) => times.map((t) => f(t / S));
  return new Stretch({
    head: { rows: times.length, from_ns: from, until_ns: to, events: EVENTS, classes: ["cbr"], reasons: ["NO_ROUTE"] },
    columns: {
      time_ns: Float64Array.from(times), node: Int32Array.from(column((i) => i % 5)), peer: Int32Array.from(column(() => 7)),
      flow: Int32Array.from(column(() => 0)), bytes: Int32Array.from(column(() => 1000)), packet: Float64Array.from(column((i) => i)), seq: Float64Array.from(column((i) => i)),
      event: Uint8Array.from(column((i) => (i % 3) + 1)), class: Uint8Array.from(column(() => 1)),
      reason: Uint8Array.from(column((i) => (i % 3 === 1 ? 1 : 0))),
    },
  });
}

describe("stretches", () => {
  const make = () => {
    const asked: number[] = [];
    const s = new Stretches(async (from, to) => { asked.push(from); return stretch(from, to); }, 100 * S, 10 * S);
    return { s, asked };
  };
  test("steps go over the borders of stretches, in both directions", async () => {
    const { s } = make();
    expect((await s.step(9 * S, true))?.t).toBe(10 * S);
    expect((await s.step(10 * S, false))?.t).toBe(9 * S);
    expect((await s.step(10.5 * S, false))?.t).toBe(10 * S);
    expect(await s.step(99 * S, true)).toBeNull();
    expect(await s.step(0, false)).toBeNull();
  });
  test("each stretch is asked for once", async () => {
    const { s, asked } = make();
    await s.step(5 * S, true);
    s.at(6 * S);
    s.at(17 * S);
    s.at(18 * S);
    expect(asked).toEqual([0, 10 * S]);
  });
  test("a step to what is on its way waits for it", async () => {
    const { s, asked } = make();
    expect(s.at(5 * S)).toBeUndefined();
    const steps = await Promise.all([s.step(5 * S, true), s.step(5.5 * S, false), s.fetch(6 * S)]);
    expect([steps[0]?.t, steps[1]?.t, steps[2]?.from]).toEqual([6 * S, 5 * S, 0]);
    expect(asked).toEqual([0]);
  });
  test("an answer that ends early is followed by a question for the rest", async () => {
    const s = new Stretches(async (from, to) => stretch(from, Math.min(to, from + 3 * S)), 100 * S, 10 * S);
    expect((await s.fetch(8 * S))?.from).toBe(6 * S);
  });
  test("rows are visited from the latest backwards", async () => {
    const { s } = make();
    await s.fetch(5 * S);
    await s.fetch(15 * S);
    const seen: number[] = [];
    const isComplete = s.back(12.5 * S, 8 * S, 100, (of, i) => seen.push(of.time[i] / S));
    expect(seen).toEqual([12, 11, 10, 9, 8]);
    expect(isComplete).toBe(true);
  });
  test("rows that are on their way are missing, and that is known", async () => {
    const { s } = make();
    await s.fetch(15 * S);
    const look = (since: number, most: number) => s.back(12.5 * S, since, most, () => undefined);
    expect([look(11 * S, 100), look(5 * S, 100), look(5 * S, 2)]).toEqual([true, false, true]);
    expect(s.back(25 * S, 24 * S, 100, () => undefined)).toBe(false);
    expect(marksAt(s, 12.5 * S, 1).isComplete).toBe(true);
  });
  test("a replay asks ahead, and for no more than three stretches at a time", async () => {
    const { s, asked } = make();
    await s.fetch(5 * S);
    s.ahead(3 * S);
    s.ahead(25 * S);
    s.ahead(7 * S);
    expect(asked).toEqual([0, 10 * S]);
    for (const t of [30, 40, 50, 60]) s.at(t * S);
    expect(asked).toEqual([0, 10 * S, 30 * S, 40 * S]);
  });
  test("marks show what was lost with its cause, and routes of the last two seconds", async () => {
    const { s } = make();
    await s.fetch(5 * S);
    const marks = marksAt(s, 5.1 * S, 1);
    expect(marks.losses.map((l) => [l.hop.reason, l.hop.t / S])).toEqual([["NO_ROUTE", 4]]);
    expect(marks.routes).toEqual([{ node: 0, peer: 7, flow: 0, packets: 1, bytes: 1000 }]);
    expect(marks.sendings).toEqual([]);
    expect(marksAt(s, 6.1 * S, 1).sendings).toMatchObject([{ node: 1, peer: 7, routing: false }]);
  });
});

test("every kind of cause has a shape and a sign of its own", () => {
  const kinds = ["NO_ROUTE", "MAC_RETRIES", "QUEUE_FULL", "TTL_EXPIRED"].map(causeOf);
  expect(new Set(kinds.map((c) => c.shape)).size).toBe(4);
  expect(new Set(kinds.map((c) => c.sign)).size).toBe(4);
});

describe("the story of a packet", () => {
  test("a packet is named by its number, or by flow and number", () => {
    expect([parsePacket("2741"), parsePacket(" 3:17 "), parsePacket("3 17"), parsePacket("0/0")])
      .toEqual([{ packet: 2741 }, { flow: 3, seq: 17 }, { flow: 3, seq: 17 }, { flow: 0, seq: 0 }]);
    for (const nonsense of ["", "x", "1:2:3", "-1", "1.5", "9".repeat(16)]) expect(parsePacket(nonsense)).toBeNull();
  });
  test("the line of the present is the last one that has begun", () => {
    const steps = [1, 2, 2, 3].map((time_s) => ({ time_s, node: 0, node_name: "0", what: "send", text: "", attempt: null, at: [] }));
    expect([0.9, 1, 1.9, 2, 2.5, 99].map((s) => currentStep(steps, s * S))).toEqual([-1, 0, 0, 2, 2, 3]);
    expect(currentStep([], S)).toBe(-1);
  });
  test("losses at one node stand in a row of six, those of others apart", () => {
    const loss = (node: number) => ({ hop: { t: 0, node, peer: -1, flow: 0, packet: 1, seq: 1, event: "drop", className: "cbr", reason: null }, age: 0 });
    const placed = [...lossPlaces([loss(1), loss(2), ...Array.from({ length: 9 }, () => loss(1))])];
    expect(placed.map((l) => [l.hop.node, l.place])).toEqual([[1, 0], [2, 0], [1, 1], [1, 2], [1, 3], [1, 4], [1, 5]]);
    expect(new Set(placed.filter((l) => l.hop.node === 1).map((l) => l.dx)).size).toBe(6);
  });
});
