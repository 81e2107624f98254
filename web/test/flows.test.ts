import { describe, expect, test } from "vitest";
import { distance, endsInWords, lanes, placed, rateOf, showRate, styleOf, united } from "../src/flows";
import type { Frame } from "../src/frame";
import { marksAt } from "../src/marks";
import { Stretch, Stretches } from "../src/packets";
import { wayOf } from "../src/route";
import { SvgSheet } from "../src/svg";
import type { Step, Story } from "../src/told";
import { webm } from "../src/webm";

const S = 1e9;
const route = (node: number, peer: number, flow: number, bytes = 100) => ({ node, peer, flow, packets: 1, bytes });

describe("flows on the map", () => {
  test("those of one link lie beside each other, hidden ones are left out", () => {
    const all = lanes([route(0, 1, 2), route(0, 1, 0), route(0, 1, 5), route(1, 0, 0)], (f) => f === 5);
    expect(all.map((l) => [l.route.node, l.route.flow, l.shift])).toEqual([[0, 0, 3], [0, 2, 9], [1, 0, 3]]);
    // Without a way back they lie on both sides of the line.
    expect(lanes([route(0, 1, 2), route(0, 1, 0)], () => false).map((l) => l.shift)).toEqual([-3, 3]);
  });
  test("a lane lies to the side of the line between its nodes, and is hit there", () => {
    const at = placed({ route: route(0, 1, 0), shift: 5 }, [0, 100], [0, 0]);
    expect(at).toEqual([0, 5, 100, 5]);
    expect([distance(50, 5, at), distance(50, 12, at), distance(103, 9, at)]).toEqual([0, 7, 5]);
  });
  test("many flows of a link are one, with the sum of what goes by it", () => {
    expect(united([route(0, 1, 0, 10), route(0, 1, 1, 20), route(1, 0, 1, 5)]).map((r) => [r.node, r.flow, r.packets, r.bytes])).toEqual([[0, -1, 2, 30], [1, -1, 1, 5]]);
  });
  test("a flow's ends are nodes, hosts outside by their addresses, or all; of programs with the port", () => {
    const flow = { id: 0, kind: "tcp", src: 0, dst: 1, sent: 1, received: null, delivery_ratio: null }, name = (n: number) => `n${n}`;
    expect([flow, { ...flow, dst: null }, { ...flow, dst: 2, dst_address: "192.0.2.1", protocol: 6, src_port: 4711, dst_port: 80 }, { ...flow, src: null, src_address: "2001:db8::1" }, { ...flow, src: null }]
      .map((f) => endsInWords(f, name))).toEqual(["n0 → n1", "n0 → all", "n0 → 192.0.2.1:80", "2001:db8::1 → n1", "? → n1"]);
  });
  test("a program's flow has the port that serves at its end, whole with both, and ICMP has none", () => {
    const tcp = { id: 0, kind: "tcp", src: 0, dst: 1, sent: 1, received: null, delivery_ratio: null, protocol: 6, src_port: 5201, dst_port: 45490 }, name = (n: number) => `n${n}`;
    expect(endsInWords(tcp, name)).toBe("n0:5201 → n1");
    expect(endsInWords(tcp, name, true)).toBe("n0:5201 → n1:45490");
    expect(endsInWords({ ...tcp, protocol: 1, src_port: 7, dst_port: 7 }, name, true)).toBe("n0 → n1");
  });
  test("the first 21 flows differ in colour or dash, by day and by night", () => {
    for (const isNight of [false, true]) {
      expect(new Set(Array.from({ length: 21 }, (_, f) => JSON.stringify(styleOf(f, isNight)))).size).toBe(21);
    }
  });
  test("rates have a unit that suits them", () => {
    expect([0, 999, 1000, 12_345, 999_999, 2_500_000].map(showRate)).toEqual(["0 b/s", "999 b/s", "1 kb/s", "12 kb/s", "1000 kb/s", "2.5 Mb/s"]);
  });
});

describe("what goes by flows and links", () => {
  const EVENTS = ["originate", "send", "deliver"];
  /** Flow 0 sends 1,000 bytes every 0.1 s from node 0 to node 1, from 0 to 10 s; each second one arrives. */
  const rows = Array.from({ length: 100 }, (_, i) => [[i * 1e8, 1], [i * 1e8 + 10, 2], ...(i % 10 === 0 ? [[i * 1e8 + 20, 3]] : [])]).flat();
  const frame: Frame = {
    head: { rows: rows.length, from_ns: 0, until_ns: 20 * S, events: EVENTS, classes: ["cbr"], reasons: [] },
    columns: {
      time_ns: Float64Array.from(rows, (r) => r[0]), event: Uint8Array.from(rows, (r) => r[1]), node: Int32Array.from(rows, (r) => (r[1] === 3 ? 1 : 0)),
      peer: Int32Array.from(rows, () => 1), flow: Int32Array.from(rows, () => 0), bytes: Int32Array.from(rows, () => 1000),
      packet: Float64Array.from(rows, () => 1), seq: Float64Array.from(rows, () => 1), class: Uint8Array.from(rows, () => 1), reason: Uint8Array.from(rows, () => 0),
    },
  };
  const stretches = async () => { const s = new Stretches(async () => new Stretch(frame), 20 * S, 20 * S); await s.fetch(0); return s; };
  test("they are those of the last two seconds", async () => {
    const marks = marksAt(await stretches(), 5.05 * S, 1), flow = marks.flows.get(0)!;
    expect(marks.span_s).toBe(2);
    // 20 packets in 2 s are 80 kb/s; two of them arrived.
    expect([rateOf(flow.sent, marks), rateOf(flow.delivered, marks), rateOf(marks.routes[0].bytes, marks)]).toEqual([80_000, 8000, 80_000]);
  });
  test("at the begin the time is shorter, and after the end nothing goes", async () => {
    const s = await stretches(), marks = marksAt(s, 1 * S, 1);
    expect([marks.span_s, rateOf(marks.flows.get(0)!.sent, marks)]).toEqual([1, 88_000]);
    expect(marksAt(s, 15 * S, 1).flows.size).toBe(0);
    expect(rateOf(1000, marksAt(s, 0, 1))).toBe(0);
  });
});

describe("the way of a packet", () => {
  const step = (time_s: number, node: number, what: string): Step => ({ time_s, node, node_name: "", what, text: "", attempt: null, at: [] });
  const story = (outcome: string, hops: [number, number, number][], steps: Step[]): Story => ({
    run: "a", packet: 1, flow: 0, seq: 1, class: "cbr", source: "", destination: "", outcome, reason: null, has_receptions: false, more: 0, steps,
    hops: hops.map(([s, node, peer]) => ({ time_ns: s * S, node, peer })),
  });
  test("a packet that is salvaged has failed on one link, and is lost on the last", () => {
    const way = wayOf(story("dropped", [[1, 0, 1], [2, 1, 2], [3, 1, 3], [4, 3, 2]],
      [step(1, 0, "send"), step(1.5, 1, "receive"), step(2, 1, "forward"), step(3, 1, "forward"), step(3.5, 3, "receive"), step(4, 3, "forward"), step(5, 3, "drop")]));
    expect(way.legs.map((l) => l.arrived)).toEqual([true, false, true, false]);
    expect([way.failing?.node, way.failing?.peer, way.lostAt]).toEqual([3, 2, 3]);
  });
  test("one that is lost at a node that never sent it has no failing link", () => {
    const way = wayOf(story("dropped", [[1, 0, 1]], [step(1, 0, "send"), step(1.5, 1, "receive"), step(2, 1, "drop")]));
    expect([way.failing, way.lostAt]).toEqual([null, 1]);
  });
  test("one that arrives has no failing link, and one under way is open", () => {
    expect(wayOf(story("delivered", [[1, 0, 1]], [step(1, 0, "send"), step(1.5, 1, "receive")]))).toMatchObject({ failing: null, lostAt: null });
    expect(wayOf(story("held", [[1, 0, 1]], [step(1, 0, "send")])).legs[0].arrived).toBeNull();
  });
});

describe("a picture as SVG", () => {
  test("has what was drawn, text escaped, and nothing without a place", () => {
    const sheet = new SvgSheet(100, 50);
    sheet.fillStyle = "#ffffff"; sheet.fillRect(0, 0, 100, 50);
    sheet.strokeStyle = "#0072B2"; sheet.lineWidth = 2; sheet.setLineDash([3, 3]); sheet.globalAlpha = 0.5;
    sheet.beginPath(); sheet.lineTo(1, 2); sheet.lineTo(3.14159, 4); sheet.stroke();
    sheet.beginPath(); sheet.moveTo(NaN, 2); sheet.lineTo(3, 4); sheet.stroke();
    sheet.font = "bold 12px system-ui, sans-serif"; sheet.fillText("<a & \"b\">", 5, 6); sheet.fillText("nowhere", NaN, 0);
    const text = sheet.toString();
    expect(text).toContain('<path d="M1 2L3.14 4" fill="none" stroke="#0072B2" stroke-width="2" stroke-dasharray="3 3" opacity="0.5"/>');
    expect(text).toContain('font-size="12" font-weight="bold" fill="#ffffff" opacity="0.5">&lt;a &amp; &quot;b&quot;&gt;</text>');
    expect(text).not.toMatch(/NaN|nowhere/);
  });
});

describe("a video", () => {
  /** The elements of a part of a file: ID and content (RFC 8794, section 4). */
  function* elements(of: Uint8Array): Generator<[number, Uint8Array]> {
    for (let i = 0; i < of.length;) {
      const size = Math.clz32(of[i]) - 23;
      const id = of.subarray(i, i + size).reduce((v, b) => v * 256 + b, 0);
      const bytes = Number(new DataView(of.buffer, of.byteOffset + i + size).getBigUint64(0) & 0xff_ffff_ffff_ffffn);
      yield [id, of.subarray(i + size + 8, i + size + 8 + bytes)];
      i += size + 8 + bytes;
    }
  }
  test("has a cluster for each key picture, with its pictures and their times", () => {
    const picture = (time_ms: number, isKey: boolean) => ({ data: Uint8Array.of(time_ms % 256), time_ms, isKey });
    const parts = webm({ codec: "V_VP9", width: 640, height: 480, fps: 30, pictures: [picture(0, true), picture(33, false), picture(2000, true)] });
    const file = Uint8Array.from(parts.flatMap((p) => [...p]));
    const [[head], [segment, content]] = [...elements(file)];
    expect([head, segment]).toEqual([0x1a45dfa3, 0x18538067]);
    const clusters = [...elements(content)].filter(([id]) => id === 0x1f43b675).map(([, c]) => [...elements(c)].map(([id, bytes]) => [id, ...bytes]));
    expect(clusters).toEqual([[[0xe7, 0], [0xa3, 0x81, 0, 0, 0x80, 0], [0xa3, 0x81, 0, 33, 0, 33]], [[0xe7, 7, 208], [0xa3, 0x81, 0, 0, 0x80, 208]]]);
  });
});
