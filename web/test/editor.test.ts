import { describe, expect, it } from "vitest";
import { arrivals, canDraw, changed, type Control, fromControls, generate, type Generator, inside, isOwnMistake, keeping, linksAt, redone, shifted, stepAt, trackOf, undone, withKnot } from "../src/editor/model";

const base: Generator = { kind: "grid", count: 5, x: 10, y: 20, spacing: 100, width: 50, height: 30, heading: 90, speed: 10, length: 500 };

describe("generators", () => {
  it("makes rows of a grid, as near to a square as the count allows", () => {
    expect(generate(base, Math.random).map((t) => [t.start.x, t.start.y])).toEqual([[10, 20], [110, 20], [210, 20], [10, 120], [110, 120]]);
  });
  it("counts headings from north, clockwise", () => {
    const line = (heading: number) => generate({ ...base, kind: "line", count: 2, heading }, Math.random)[1].start;
    expect([line(0), line(90), line(180)].map(({ x, y }) => [x, y])).toEqual([[10, 120], [110, 20], [10, -80]]);
  });
  it("keeps random nodes in their box", () => {
    for (const r of [0, 0.5, 0.999]) {
      for (const { start } of generate({ ...base, kind: "random" }, () => r)) expect([start.x, start.y]).toEqual([10 + Math.round(5000 * r) / 100, 20 + Math.round(3000 * r) / 100]);
    }
  });
  it("lets a convoy drive one behind the other, each as far as the first", () => {
    const [first, second] = generate({ ...base, kind: "convoy", count: 2 }, Math.random);
    expect([first.start.x, second.start.x]).toEqual([10, -90]);
    expect([first, second].map((t) => t.waypoints![0].at.x - t.start.x)).toEqual([500, 500]);
    expect(first.waypoints![0].speed_mps).toBe(10);
  });
});

describe("tracks", () => {
  const track = { start: { x: 0, y: 0 }, pause_s: 10, waypoints: [{ at: { x: 30, y: 40 }, speed_mps: 5, pause_s: 20 }, { at: { x: 30, y: 140 }, speed_mps: 10 }] };
  it("come to their waypoints when way, speed and pauses say", () => expect(arrivals(track)).toEqual([20, 50]));
  it("move as a whole, or by a waypoint", () => {
    expect(shifted(track, 1.234, -1).waypoints!.map((w) => [w.at.x, w.at.y])).toEqual([[31.23, 39], [31.23, 139]]);
    expect(withKnot(track, 2, 7, 8).waypoints![1].at).toEqual({ x: 7, y: 8 });
    expect(withKnot(track, 0, 7, 8)).toEqual({ ...track, start: { x: 7, y: 8 } });
  });
  it("are read from the text, with the places of degrees from the simulator", () => {
    const tree = { movement: { kind: "waypoints", tracks: [{ start: { lat: 1, lon: 2 }, pause_s: 3, waypoints: [{ at: { x: 5, y: 6 }, speed_mps: 2 }] }] } };
    expect(trackOf(tree, 0, { x: 100, y: 200 })).toEqual({ start: { x: 100, y: 200, z: 0 }, pause_s: 3, waypoints: [{ at: { x: 5, y: 6 }, speed_mps: 2, pause_s: 0 }] });
  });
  it("are drawn only where the text lists them", () => {
    expect(["static", "waypoints", "grid", "ns2"].map((kind) => canDraw({ movement: { kind } }))).toEqual([true, true, false, false]);
    expect([canDraw({}), canDraw(null)]).toEqual([true, false]);
  });
});

describe("history", () => {
  it("undoes and redoes to the letter, and forgets what was undone when something else is done", () => {
    let h = changed(changed({ past: [], text: "a", future: [] }, "b", "one"), "c", "two");
    h = undone(undone(h));
    expect([h.text, h.future.map((f) => f.label)]).toEqual(["a", ["one", "two"]]);
    h = redone(h);
    expect([h.text, h.past.length, h.future.length]).toEqual(["b", 1, 1]);
    h = changed(h, "d", "three");
    expect(redone(h)).toBe(h);
    expect(undone(undone(undone(h))).text).toBe("a");
    expect(changed(h, "d", "nothing")).toBe(h);
  });
});

it("a lasso holds what lies in it", () => {
  const ring: [number, number][] = [[0, 0], [10, 0], [10, 10], [5, 5], [0, 10]];
  expect([inside(ring, 2, 5), inside(ring, 5, 8), inside(ring, 11, 5)]).toEqual([true, false, false]);
});

it("links are up from their first moment, and not at their last", () => {
  const links = { a: [0, 1], b: [1, 2], up: [0, 5], down: [5, null] };
  expect([0, 4.9, 5, 99].map((t) => linksAt(links, t))).toEqual([[0, 1], [0, 1], [1, 2], [1, 2]]);
  expect([0, 5, 7].map((t) => stepAt([[0, "a"], [5, "b"]], t))).toEqual(["a", "b", "b"]);
});

describe("a mistake", () => {
  const drawn = { names: ["a"] } as never;
  const tracks = { movement: { kind: "waypoints", tracks: [{}] } };
  const wrong = (key: string) => ({ tree: tracks, problem: { message: "", line: 1, key }, drawn: null });
  it("of a value that a form sets is not taken; a key that asks for another one is", () => {
    const set = [{ op: "set" as const, path: ["traffic", 0, "rate_pps"], value: -1 }];
    expect(isOwnMistake(set, wrong("traffic[0].rate_pps"))).toBe(true);
    expect(isOwnMistake(set, wrong("energy"))).toBe(false);
    expect(isOwnMistake(set, { tree: tracks, problem: null, drawn })).toBe(false);
    expect(isOwnMistake([{ op: "name", node: 0, name: "b" }], wrong("nodes.node"))).toBe(true);
    // A scenario whose last node goes is wrong, and has to be.
    expect(isOwnMistake([{ op: "delete", nodes: [0] }], { ...wrong("movement.tracks"), tree: { movement: { kind: "waypoints", tracks: [] } } })).toBe(false);
  });
  it("leaves the nodes on the map as they were", () => {
    const before = { tree: tracks, problem: null, drawn };
    expect(keeping(before, wrong("seed"))).toEqual({ ...wrong("seed"), drawn, isOld: true });
    expect(keeping(before, { ...wrong("movement.tracks"), tree: { movement: { kind: "waypoints", tracks: [] } } }).drawn).toBeNull();
  });
});

describe("a picture's control points", () => {
  const apply = (m: { a: number; b: number; e: number; f: number }, x: number, y: number) => [m.e + m.a * x + m.b * y, m.f + m.b * x - m.a * y];
  const controls: [Control, Control] = [{ px: [10, 20], at: [100, 200] }, { px: [110, 20], at: [100, 400] }];
  it("put both points where they are, and all others with them", () => {
    const m = fromControls(...controls)!;
    for (const { px, at } of controls) expect(apply(m, ...px).map((v) => Math.round(v * 1e6) / 1e6)).toEqual(at);
    // To the right in the picture is north, 2 m a pixel; so down in it is east.
    expect(apply(m, 10, 70).map((v) => Math.round(v * 1e6) / 1e6)).toEqual([200, 200]);
  });
  it("must differ", () => {
    expect(fromControls(controls[0], { ...controls[1], px: [10, 20] })).toBeNull();
    expect(fromControls(controls[0], { ...controls[1], at: [100, 200] })).toBeNull();
  });
});
