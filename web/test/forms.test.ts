import { endsOf, withoutPath } from "../src/editor/model";
import { unitOf } from "../src/editor/units";
import { describe, expect, it } from "vitest";
import { isFor, kindOf, members, nodesTyped, resolve, shapes, toggled, usual } from "../src/editor/schema";
import { spanned, spans } from "../src/editor/spans";
import { extent, linksOf, type Second, secondAt, signed, sorted } from "../src/matrix/rows";

const second = (time_s: number, more: Partial<Second> = {}): Second => ({
  time_s, mean_error_db: null, max_error_db: null, false_links: 0, solve_ms: 1, set_ms: 1, set: 0, unset: 0, missed: 0,
  places_m: [[0, 0, 0], [10, -5, 0], [3, 40, 2]], settings_db: [], ...more,
});

describe("a matrix of attenuators", () => {
  const s = second(1, { wanted_db: [60, 100, 110], made_db: [63, 101, 104], beyond_db: 105 });
  it("has a link of each pair, in the order of the log", () => {
    expect(linksOf(s).map((l) => [l.a, l.b, l.error])).toEqual([[0, 1, 3], [0, 2, 1], [1, 2, -1]]);
  });
  it("takes only what is missing for an error beyond range, and says if there is a link where none should be", () => {
    expect(linksOf(s).map((l) => [l.isBeyond, l.isFalse])).toEqual([[false, false], [false, false], [true, true]]);
    const stronger = linksOf(second(1, { wanted_db: [60, 100, 110], made_db: [60, 100, 130], beyond_db: 105 }));
    expect([stronger[2].error, stronger[2].isFalse]).toEqual([0, false]);
  });
  it("has no links of a log without them, or with too few", () => {
    expect([linksOf(second(1)), linksOf(second(1, { wanted_db: [1, 2], made_db: [1, 2] })), linksOf(second(1, { wanted_db: [1, 2, 3], made_db: [1] }))]).toEqual([[], [], []]);
  });
  it("shows false links first, then the greatest errors; of one radio if it is chosen", () => {
    expect(sorted(linksOf(s), null).map((l) => [l.a, l.b])).toEqual([[1, 2], [0, 1], [0, 2]]);
    expect(sorted(linksOf(s), 0).map((l) => l.b)).toEqual([1, 2]);
  });
  it("shows the last second that has come", () => {
    const all = [second(1), second(2), second(4)];
    expect([0, 1, 3.9, 4, 99].map((t) => secondAt(all, t)!.time_s)).toEqual([1, 1, 2, 4, 4]);
    expect(secondAt([], 1)).toBeNull();
  });
  it("knows the box around all places", () => {
    expect(extent([second(1), second(2, { places_m: [[-7, 1, 0]] })])).toEqual([-7, -5, 10, 40]);
    expect(extent([])).toBeNull();
  });
  it("writes signs as people do", () => expect([1.234, -0.5, 0].map(signed)).toEqual(["+1.23", "−0.50", "±0.00"]));
});

const defs = {
  NodeRef: { anyOf: [{ type: "integer" }, { type: "string" }] }, Kind: { oneOf: [{ const: "a", type: "string" }, { enum: ["b", "c"], type: "string" }] },
  Cut: { type: "object", properties: { start_s: { type: "number" } } },
} as never;
const kind = (schema: unknown) => kindOf(schema as never, defs);

describe("fields by the schema", () => {
  it("are those of what the key holds", () => {
    const ref = { $ref: "#/$defs/NodeRef" };
    expect([ref, { anyOf: [ref, { type: "null" }] }, { type: ["array", "null"], items: ref }].map(kind)).toEqual(["node", "node", "nodes"]);
    expect([{ type: "array", items: { type: "integer" } }, { type: "array", items: { type: "string" } }, { type: "array", items: { $ref: "#/$defs/Cut" } }, { type: "array", items: { type: "boolean" } }].map(kind)).toEqual(["numbers", "words", "tables", "other"]);
    expect([{ type: ["number", "null"] }, { type: "integer" }, { type: "boolean" }, { type: "string" }, { $ref: "#/$defs/Kind" }, { $ref: "#/$defs/Cut" }, {}].map(kind)).toEqual(["number", "number", "boolean", "string", "enum", "table", "other"]);
  });
  it("have the words of the key before those of its type", () => {
    expect(resolve({ $ref: "#/$defs/Kind", description: "own" } as never, defs)).toMatchObject({ enum: ["a", "b", "c"], description: "own" });
  });
  it("say what an empty one stands for", () => {
    expect([{ default: 3 }, { default: [1] }, { description: "How long. Default: the `run`'s time; or so." }, { description: "A name." }].map((s) => usual(s as never))).toEqual(["3", "[1]", "the run's time", "none"]);
  });
  it("are shown for the kinds that their descriptions begin with", () => {
    const kinds = ["jamming", "wormhole", "black-hole"];
    expect([isFor("`jamming`: how loud", kinds, "jamming"), isFor("`jamming`: how loud", kinds, "wormhole"), isFor("How long", kinds, "wormhole"), isFor("`share` of it: all", kinds, "jamming")]).toEqual([true, false, true, true]);
    expect([isFor("For forged replies: x", kinds, "black-hole"), isFor("For forged replies: x", kinds, "jamming")]).toEqual([true, false]);
  });
  it("know the shapes of a list whose entries have kinds", () => {
    const items = { oneOf: [{ properties: { kind: { const: "one" } } }, { $ref: "#/$defs/Cut", properties: { kind: { const: "two" } } }] } as never;
    expect(shapes(items, defs).map((s) => [s.kind, Object.keys(s.schema.properties!)])).toEqual([["one", ["kind"]], ["two", ["start_s", "kind"]]]);
  });
});

describe("nodes in fields", () => {
  const names = ["0", "mid", "2", "3"];
  it("are numbers, names and ranges", () => {
    expect(nodesTyped("mid, 2-3 ,0, 0", names)).toEqual({ nodes: ["mid", 2, 3, 0] });
    expect([nodesTyped("7", names), nodesTyped("3-2", names), nodesTyped("who", names)]).toEqual([{ wrong: "7" }, { wrong: "3-2" }, { wrong: "who" }]);
    expect(nodesTyped(" , ", names)).toEqual({ nodes: [] });
  });
  it("have an interface if its list names them, or if it has none", () => {
    expect([...members({ nodes: ["mid", 3, "who"] }, names)]).toEqual([1, 3]);
    expect(members({}, names).size).toBe(4);
  });
  it("get and lose an interface; a radio that all have needs no list, a wire does", () => {
    expect(toggled({}, names, 1, false)).toEqual([0, 2, 3]);
    expect(toggled({ nodes: [0, 2, 3] }, names, 1, false)).toBeNull();
    expect(toggled({ nodes: [0, 2, 3] }, names, 1, true)).toEqual([0, 2, 3, "mid"]);
  });
});

describe("bars above the clock", () => {
  const tree = {
    outages: [{ node: 1, start_s: 10, length_s: 5, every_s: 40 }, { mean_up_s: 60, mean_down_s: 9 }],
    wires: [{ name: "cable", nodes: [0, 1], cuts: [{ start_s: 7 }] }], attacks: [{ kind: "jamming", nodes: [1, 2], at_s: 3, until_s: 8 }],
  };
  const all = spans(tree as never, 100);
  it("are the outages, cuts and attacks of the text, and those that follow", () => {
    expect(all.map((s) => [s.kind, s.from, s.until])).toEqual([["outage", 10, 15], ["outage", 0, null], ["cut", 7, null], ["attack", 3, 8]]);
    expect(all[0].again).toEqual([[50, 55], [90, 95]]);
    expect(all.map((s) => s.label)).toEqual(["Outage 1: node 1", "Random outages 2: all nodes", "Cut 1 of wire cable", "Attack 1: jamming, nodes 1, 2"]);
  });
  it("write what moving or stretching them means, to the tenth of a second", () => {
    expect(spanned(all[0], 20.04, 25.04)).toEqual([{ op: "set", path: ["outages", 0, "start_s"], value: 20 }]);
    expect(spanned(all[0], 10, 18)).toEqual([{ op: "set", path: ["outages", 0, "length_s"], value: 8 }]);
    expect(spanned(all[0], 10, 2)).toEqual([{ op: "set", path: ["outages", 0, "length_s"], value: 0.1 }]);
    expect(spanned(all[3], 4, 9)).toEqual([{ op: "set", path: ["attacks", 0, "at_s"], value: 4 }, { op: "set", path: ["attacks", 0, "until_s"], value: 9 }]);
    expect(spanned(all[2], 9, null)).toEqual([{ op: "set", path: ["wires", 0, "cuts", 0, "start_s"], value: 9 }]);
    expect([spanned(all[1], 5, 9), spanned(all[0], 10, 15)]).toEqual([[], []]);
  });
});

it("a field has the unit of its key, and a mere number none", () => {
  expect(["duration_s", "rate_pps", "tx_power_dbm", "x", "queue_packets", "speed_factor", "loss", "mtu"].map(unitOf)).toEqual(["s", "packets/s", "dBm", "m", "packets", "×", "0 to 1", "bytes"]);
  expect(["seed", "count", "ip", "ltp_port", "s", "m"].map(unitOf)).toEqual(["", "", "", "", "", ""]);
});

it("a flow that never has a path is warned of in the words of the command line, and one that has some is not", () => {
  const flows = [{ src: 0, dst: 2, start_s: 0, stop_s: 1 }, { src: 0, dst: 1, start_s: 0, stop_s: 1 }, { src: 0, dst: null, start_s: 0, stop_s: 1 }];
  const hops = [{ src: 0, dst: 2, unreachable_share: 1, steps: [] }, { src: 0, dst: 1, unreachable_share: 0.5, steps: [] }];
  expect(withoutPath({ flows, geometry: { hops } as never, range_m: 250 }, String)).toEqual(["flow 0 (0 to 2): no path ever exists with a range of 250 m"]);
});

it("a new flow joins who is selected, and asks where it goes to with one node", () => {
  expect([endsOf([], 5), endsOf([3], 5), endsOf([3, 1, 2], 5), endsOf([], 1)]).toEqual([[0, 4], [3, null], [3, 1], [null, null]]);
});
