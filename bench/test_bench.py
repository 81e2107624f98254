"""Tests of the benchmarks' own arithmetic and readers: python3 -m unittest, in this directory."""

import json
import math
import os
import tempfile
import tomllib
import unittest

import agreement
import babeld
import cases
import comparison
import dcf
import generate
import instructions
import layouts
import monday_losses
import ns2_trace
import ns3_radios
import ns3_run
import reproductions
import scaling
import swans

DSR_TAIL = "[%s:255 %s:255 32 0] 3 [%d 2] [%d 2 3 32->22] [%d 0 0 0->0]"


def summary_of(lines):
    reader = ns2_trace.TraceReader()
    for line in lines:
        reader.line(line + "\n")
    return reader.summary()


class Reproductions(unittest.TestCase):
    def test_the_page_is_what_the_stored_results_give(self):
        with open(reproductions.PAGE, encoding="utf-8") as file:
            self.assertEqual(file.read(), reproductions.page(reproductions.stored()))

    def test_numbers_have_four_digits_and_none_is_a_dash(self):
        self.assertEqual([reproductions.number(v) for v in (None, 0.0, 16292.4, 13.018, 0.00061)], ["-", "0", "16292", "13.02", "0.00061"])


class Babeld(unittest.TestCase):
    LOG = """[2026-11-26T19:02:30.000000] local 10.0.0.1 dev mesh0 table local proto kernel scope host src 10.0.0.1
[2026-11-26T19:02:31.000000] 10.0.0.9 via 10.0.0.9 dev mesh0 proto babel onlink
begin 1795719752.500000000
Warning: couldn't find router id -- using random value.
[2026-11-26T19:02:33.000000] 10.0.0.2 via 10.0.0.2 dev mesh0 proto babel onlink
[2026-11-26T19:02:33.500000] unreachable 10.0.0.3 proto babel metric 4294967295
[2026-11-26T19:02:34.000000] Deleted 10.0.0.2 via 10.0.0.2 dev mesh0 proto babel onlink
[2026-11-26T19:02:34.500000] Deleted unreachable 10.0.0.3 proto babel metric 4294967295
[2026-11-26T19:02:34.500100] 10.0.0.3 via 10.0.0.2 dev mesh0 proto babel onlink
[2026-11-26T19:02:36.000000] 10.0.0.2 via 10.0.0.3 dev mesh0 proto babel onlink
[2026-11-26T19:02:37.000000] Deleted 10.0.0.3 via 10.0.0.2 dev mesh0 proto babel onlink
"""

    def test_routes_are_complete_when_all_are_there_at_once(self):
        # 19:02:32.5 is the begin: the route before does not count, nor do unreachable and deleted ones.
        self.assertEqual(babeld.complete_after(self.LOG, 2), (3.5, 1))
        self.assertEqual(babeld.complete_after(self.LOG, 3), (None, 1))
        self.assertEqual(babeld.complete_after("", 1), (None, 0))

    def test_rates_are_of_the_packets_in_a_time(self):
        packets = [(0.5, 1000), (1.0, 250), (1.9, 250), (2.0, 125)]
        self.assertEqual(babeld.kbps(packets, 0, 2), 6.0)
        self.assertEqual(babeld.kbps(packets, 1, 3), 2.5)
        self.assertEqual(babeld.peak_kbps(packets), 8.0)
        self.assertEqual(babeld.peak_kbps([]), 0)

    def test_layouts_are_connected_and_dense_ones_nearly_complete(self):
        self.assertTrue(babeld.is_connected([[0, 0], [200, 0], [400, 0]]))
        self.assertFalse(babeld.is_connected([[0, 0], [200, 0], [451, 0]]))
        self.assertAlmostEqual(babeld.neighbours([[0, 0], [200, 0], [400, 0]]), 4 / 3)
        self.assertEqual(babeld.place(22, "spread"), babeld.place(22, "spread"))
        self.assertGreater(babeld.neighbours(babeld.place(22, "dense")), 19)

    def test_the_page_has_the_stored_results(self):
        page = (babeld.RESULTS.parents[2] / "docs/concepts/real-daemons.md").read_text(encoding="utf-8")
        for r in json.loads(babeld.RESULTS.read_text(encoding="utf-8"))["runs"]:
            after = "never" if r["complete_s"] is None else f"{r['complete_s']:.0f} s"
            row = f"| {r['nodes']} | {r['layout']}, {r['type']} | {r['neighbours']:.1f} | {after} | {r['peak_kbps']:.0f} kbit/s |"
            self.assertIn(row, page)
            self.assertEqual(r["late_verdict"], "ok")


class Swans(unittest.TestCase):
    def test_ranges_are_those_of_free_space(self):
        # The path loss that is usually written as 20 lg(km) + 20 lg(GHz) + 92.45.
        for dbm in (swans.RECEIVE_DBM, swans.SENSE_DBM):
            km = swans.range_m(dbm) / 1000
            loss = 20 * math.log10(km) + 20 * math.log10(swans.FREQUENCY_MHZ / 1000) + 92.45
            self.assertAlmostEqual(swans.POWER_DBM - loss, dbm, places=2)

    def test_the_density_is_that_of_the_experiment(self):
        def nodes(dbm):
            return math.pi * swans.range_m(dbm) ** 2 / swans.SQUARE_METRES_PER_NODE

        # 4 to 5 nodes receive, about 35 sense.
        self.assertTrue(4 < nodes(swans.RECEIVE_DBM) < 5)
        self.assertTrue(33 < nodes(swans.SENSE_DBM) < 38)

    def test_positions_follow_the_legs(self):
        def leg(node, time_s, x, vx):
            return {"node": node, "time_ns": time_s * 10**9, "x_m": x, "y_m": 0, "vx_mps": vx, "vy_mps": 0}

        positions = swans.Positions([leg(0, 0, 0, 0), leg(1, 10, 100, 0), leg(1, 0, 0, 10), leg(2, 0, 60, 0)])
        self.assertEqual([positions.at(1, t * 10**9) for t in (0, 5, 10, 99)], [(0, 0), (50, 0), (100, 0), (100, 0)])
        self.assertEqual([positions.within(0, t * 10**9, 60) for t in (0, 5, 10)], [2, 2, 1])


class Instructions(unittest.TestCase):
    def test_more_than_the_bound_fails_and_much_less_asks_to_store(self):
        passes = [instructions.verdict("dsr", counted, 1000)[1] for counted in (900, 1000, 1029, 1031)]
        self.assertEqual(passes, [True, True, True, False])
        self.assertIn("--store", instructions.verdict("dsr", 900, 1000)[0])
        self.assertNotIn("--store", instructions.verdict("dsr", 990, 1000)[0])
        self.assertFalse(instructions.verdict("dsr", 1000, None)[1])

    def test_threads_are_told_apart(self):
        text = "version: 1\nthread: 1\nsummary: 12\ntotals: 12\nthread: 2\ntotals: 340\n"
        self.assertEqual(instructions.of_threads(text), [12, 340])

    def test_the_compiler_is_what_the_program_says(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\x7fELF\0GCC: (Debian 12)\0rustc version 1.95.0 (59807616e 2026-04-14)\0")
            file.flush()
            self.assertEqual(instructions.compiler(file.name), "1.95.0 (59807616e 2026-04-14)")


class Trace(unittest.TestCase):
    def test_a_packet_of_two_hops(self):
        summary = summary_of(
            [
                "s 1.000000000 _0_ AGT  --- 7 cbr 64 [0 0 0 0] ------- [0:0 2:0 32 0] [0] 0 0",
                "s 1.001000000 _0_ RTR  --- 7 cbr 84 [0 0 0 0] ------- [0:0 2:0 30 1] [0] 0 0",
                "f 1.003000000 _1_ RTR  --- 7 cbr 84 [102 1 0 800] ------- [0:0 2:0 29 2] [0] 1 0",
                "r 1.005500000 _2_ AGT  --- 7 cbr 84 [102 2 1 800] ------- [0:0 2:0 29 2] [0] 2 0",
                "s 2.000000000 _0_ AGT  --- 8 cbr 64 [0 0 0 0] ------- [0:0 2:0 32 0] [1] 0 0",
                "D 2.100000000 _1_ IFQ  ARP 8 cbr 84 [102 1 0 800] ------- [0:0 2:0 29 2] [1] 1 0",
            ]
        )
        self.assertEqual((summary["sent"], summary["received"], summary["delivery_ratio"]), (2, 1, 0.5))
        self.assertEqual(summary["hops_mean"], 2.0)
        self.assertAlmostEqual(summary["latency_ms"]["p50"], 5.5)
        self.assertEqual(summary["data_transmissions"], 2)
        self.assertEqual(summary["drops"], {"IFQ:ARP": 1})

    def test_a_second_copy_is_not_received_again(self):
        sent = "s 1.0 _0_ AGT  --- 7 cbr 64 [0 0 0 0] ------- [0:0 2:0 32 0] [0] 0 0"
        received = "r 1.5 _2_ AGT  --- 7 cbr 84 [102 2 1 800] ------- [0:0 2:0 29 2] [0] 2 0"
        self.assertEqual(summary_of([sent, received, received])["received"], 1)

    def test_every_transmission_of_a_routing_packet_counts(self):
        request = "1.0 _1_ RTR  --- 0 AODV 48 [0 0 0 0] ------- [1:255 -1:255 5 0] [0x2 1 1 [2 0] [0 4]] (REQUEST)"
        reply = "1.1 _2_ RTR  --- 0 AODV 44 [0 0 0 0] ------- [2:255 0:255 30 1] [0x4 1 [2 4] 10.0] (REPLY)"
        summary = summary_of(["s " + request, "r " + request, "f " + request, "s " + reply, "D " + reply])
        self.assertEqual(summary["routing_packets"], 3)
        self.assertEqual(summary["routing_bytes"], 140)
        self.assertEqual(summary["by_type"], {"rreq": 2, "rrep": 1})

    def test_each_dsr_option_in_a_packet_counts(self):
        head = "s 1.0 _1_ RTR  --- 1 DSR 52 [0 0 0 0] ------- "
        summary = summary_of(
            [head + DSR_TAIL % ("22", "32", *flags) for flags in ((1, 0, 0), (1, 0, 1), (0, 1, 0), (0, 0, 1))]
        )
        self.assertEqual(summary["routing_packets"], 4)
        self.assertEqual(summary["by_type"], {"rreq": 2, "rrep": 1, "rerr": 2})

    def test_percentiles_are_of_nearest_rank(self):
        self.assertEqual(ns2_trace.percentile([1, 2, 3, 4], 0.5), 2)
        self.assertEqual(ns2_trace.percentile(list(range(1, 101)), 0.95), 95)
        self.assertEqual(ns2_trace.percentile([7], 0.99), 7)


class Agreement(unittest.TestCase):
    NS2 = {"delivery_pct": 98.0, "routing_packets": 1000, "hops_mean": 2.0, "latency_ms_p50": 8.0}

    def verdicts(self, **changed):
        rows = agreement.compare([self.NS2], [{**self.NS2, **changed}])
        return {row["quantity"]: row["pass"] for row in rows}

    def test_each_bound_holds_inside_and_breaks_outside(self):
        for quantity, inside, outside in (
            ("delivery_pct", 96.01, 95.99),
            ("routing_packets", 1249, 1251),
            ("hops_mean", 1.91, 1.89),
            ("latency_ms_p50", 9.9, 10.1),
        ):
            self.assertTrue(all(self.verdicts(**{quantity: inside}).values()))
            broken = self.verdicts(**{quantity: outside})
            self.assertEqual([name for name, passed in broken.items() if not passed], [quantity])

    def test_hops_are_weighted_by_the_packets_that_took_them(self):
        flows = [{"hops_mean": 1.0, "received": 30}, {"hops_mean": 4.0, "received": 10}]
        totals = {"delivery_ratio": 1.0, "routing_packets": 0, "received": 40, "latency_ms": {"p50": 1.0}}
        self.assertEqual(agreement.of_wayhop({"flows": flows, "totals": totals})["hops_mean"], 1.75)


class Dcf(unittest.TestCase):
    def test_frame_times_are_those_of_the_standard(self):
        self.assertEqual(dcf.frame_us(20, 2.0), 272.0)
        self.assertEqual(dcf.frame_us(14, 1.0), 304.0)
        self.assertEqual(dcf.eifs_us(), 364.0)

    def test_a_single_sender_is_the_limit_of_bianchi(self):
        alone = dcf.single_sender_kbps(1500, 34, 1472)
        self.assertAlmostEqual(dcf.bianchi_kbps(1, 1500, 34, 1472), alone, places=6)

    def test_the_fixed_point_satisfies_both_equations(self):
        for senders in (2, 5, 50):
            tau, collides = dcf.attempt_probability(senders)
            self.assertAlmostEqual(collides, 1 - (1 - tau) ** (senders - 1), places=9)
            window, steps = 32, 5
            direct = (
                2
                * (1 - 2 * collides)
                / ((1 - 2 * collides) * (window + 1) + collides * window * (1 - (2 * collides) ** steps))
            )
            self.assertAlmostEqual(tau, direct, places=9)


class Monday(unittest.TestCase):
    # A row of three; at 20 s the first loses the second and hears the third, at 60 s nobody, at 70 s the second again.
    ROW = """# who ignores whom
at 0 node 0 ignores 02:00:0a:09:00:03
at 0 node 2 ignores 02:00:0a:09:00:01
at 20 node 0 ignores 02:00:0a:09:00:02
at 20 node 2 ignores nobody
at 60 node 0 ignores 02:00:0a:09:00:02 02:00:0a:09:00:03
at 70 node 0 ignores 02:00:0a:09:00:03
"""

    def test_the_page_has_the_tables_of_the_stored_results(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "results", "monday.json"), encoding="utf-8") as file:
            found = monday_losses.tables(json.load(file)["rounds"]).split("\n\n")
        with open(os.path.join(here, "..", "docs", "concepts", "monday.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual([table in page for table in found], [True] * 3)

    def test_a_loss_goes_to_what_went_wrong_when_it_was_sent(self):
        sky = monday_losses.Sky(self.ROW, 3)
        car = monday_losses.Flow("car", 0, frozenset({2}), False)
        rover = monday_losses.Flow("rover", 0, frozenset({2}), True)
        faults = [monday_losses.Fault(30, 40, "battery", "1"), monday_losses.Fault(38, 39, "redial", "0")]

        def causes(flow, *times, period=0):
            return [monday_losses.cause(t, flow, faults, sky, period) for t in times]

        self.assertEqual(causes(car, 10, 19.5, 24, 28), ["none of these", "link lost", "link lost", "none of these"])
        self.assertEqual(causes(car, 75.5, 76), ["none of these"] * 2)
        self.assertEqual(causes(car, 29.5, 39, 44.9, 46), ["battery", "battery", "battery", "none of these"])
        self.assertEqual(causes(car, 46, 55.1, period=15), ["battery", "none of these"])
        self.assertEqual(causes(rover, 36.5, 39, 44.5), ["battery", "redial", "battery"])
        # At 60 s a link is lost, too, but then there is none; and what follows the link's return goes to that.
        self.assertEqual(causes(car, 59.5, 65, 74), ["out of range"] * 3)
        self.assertEqual(causes(rover, 65), ["hand-over"])

    def test_a_link_that_is_on_no_way_is_no_cause(self):
        sky = monday_losses.Sky("at 0 node 0 ignores nobody\nat 5 node 2 ignores 02:00:0a:09:00:04\n", 4)
        self.assertFalse(sky.lost_link(0, {1}, 0, 10))
        self.assertTrue(sky.lost_link(2, {3}, 0, 10))
        self.assertFalse(sky.new_link(2, {3}, 0, 10))

    def test_a_link_that_has_just_come_is_a_cause(self):
        sky = monday_losses.Sky("at 0 node 0 ignores 02:00:0a:09:00:03\nat 9 node 0 ignores nobody\n", 3)
        car = monday_losses.Flow("car", 0, frozenset({2}), False)
        self.assertEqual([monday_losses.cause(t, car, [], sky) for t in (7.5, 9.5, 10.5)], ["none of these", "link new", "none of these"])

    def test_a_lost_ping_was_sent_when_its_neighbours_say(self):
        said = "".join(f"[{100 + 0.2 * n + 0.01:.3f}] 64 bytes from 10.9.0.5: icmp_seq={n} ttl=63 time=10.0 ms\n" for n in (2, 3, 6))
        rows = monday_losses.pings(said + "\n7 packets transmitted, 3 received, 57.1429% packet loss, time 1200ms\n", 0.2)
        self.assertEqual([(n, round(at, 3), answered) for n, at, answered in rows],
                         [(n, round(100 + 0.2 * n, 3), n in (2, 3, 6)) for n in range(1, 8)])

    def test_datagrams_that_did_not_come_are_spread_over_the_silence(self):
        line = "{} [  5]   {}.00-{}.00   sec  24.4 KBytes   200 Kbits/sec  0.1 ms  {}/{} (0%)  {}\n"
        said = line.format(10, 0, 1, 0, 25, "") + line.format(11, 1, 2, 0, 0, "") + line.format(12, 2, 3, 4, 6, "")
        # The line about the whole transfer does not count.
        received, lost = monday_losses.datagrams(said + line.format(12, 0, 3, 4, 31, "receiver"))
        self.assertEqual((received, lost), (27, [10.25, 10.75, 11.25, 11.75]))


class Radios(unittest.TestCase):
    @staticmethod
    def run_of(seed, ns3, wayhop):
        outcome = {"routing_packets": 10, "lost": {"arp": 1}}
        return {"model": "AODV", "setting": "RTS", "seed": seed, "sent": 1000,
                "ns3": {"delivered": ns3, **outcome}, "wayhop": {"delivered": wayhop, **outcome}}

    def test_the_page_has_the_tables_of_the_stored_results(self):
        with open(ns3_radios.RESULT, encoding="utf-8") as file:
            runs = json.load(file)["runs"]
        with open(os.path.join(cases.HERE, "..", "docs", "concepts", "ns3-models.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual([table in page for table in (ns3_radios.table(runs), ns3_radios.losses(runs))], [True] * 2)

    def test_the_interval_is_students(self):
        # Five values with a standard deviation of sqrt(2.5): 2.776 sqrt(2.5 / 5) on either side of their mean.
        mean, half = ns3_radios.interval([1, 2, 3, 4, 5])
        self.assertEqual(mean, 3)
        self.assertAlmostEqual(half, 1.9629, places=4)

    def test_a_difference_is_a_mean_over_pairs(self):
        # The radios differ by exactly 10 points with each seed, however much the seeds do.
        table = ns3_radios.table([self.run_of(1, 500, 600), self.run_of(2, 800, 900)])
        self.assertIn("| +10.0 ± 0.0 | 10 and 10 |", table)

    def test_losses_are_shares_of_the_packets_sent(self):
        losses = ns3_radios.losses([self.run_of(1, 999, 999), self.run_of(2, 999, 999)])
        self.assertTrue(losses.endswith("| AODV | RTS | `arp` 1 | `arp` 1 |"))


class Comparison(unittest.TestCase):
    def test_the_page_has_the_table_of_the_stored_results(self):
        with open(os.path.join(cases.HERE, "..", "docs", "concepts", "comparison.md"), encoding="utf-8") as file:
            self.assertIn(comparison.table(comparison.stored(comparison.RESULT)), file.read())

    def test_a_daemons_programs_are_found_from_the_folder_above(self):
        for _, file, _ in comparison.DAEMONS:
            programs = tomllib.loads("programs = " + comparison.programs(file))["programs"]
            self.assertTrue(all(program["command"] for program in programs))
            self.assertNotIn("{scenario}/bird.conf", json.dumps(programs))
        self.assertIn("{scenario}/daemons/bird.conf", comparison.programs("bird.toml"))

    def test_a_degraded_run_was_not_on_time(self):
        runs = [{"lateness_us": {"verdict": verdict}} for verdict in ("ok", "degraded", "ok")]
        self.assertEqual(comparison.verdict(runs), "2 of 3")


class Files(unittest.TestCase):
    def test_the_stored_variants_are_what_the_generator_writes(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "file")
            generate.movement(path, 13, 50, 1500.0, 300.0, 0.01, 20.0, 60.0, 900.0)
            self.assert_same(path, os.path.join(cases.DATA, "variants", "c.pause60.tcl"))
            generate.traffic(path, 23, 50, 20, 4, 64, 0, 180, jitter=1)
            self.assert_same(path, os.path.join(cases.DATA, "variants", "c.cbr.tcl"))

    def assert_same(self, written, stored):
        with open(written, encoding="ascii") as one, open(stored, encoding="ascii") as other:
            self.assertEqual(one.read().splitlines()[1:], other.read().splitlines()[1:])

    def test_destinations_within_a_distance_are(self):
        with tempfile.TemporaryDirectory() as scratch:
            movement, traffic = generate.scaling(scratch, 400, flows=40, within=300.0)
            places = generate.positions_at_start(movement)
            flows = ns3_run.flows(traffic)
        self.assertEqual(len({flow[0] for flow in flows}), 40)
        for source, target, *_ in flows:
            apart = math.dist(places[source], places[target])
            self.assertNotEqual(source, target)
            self.assertLessEqual(apart, 300.0)

    def test_flows_are_read_back_from_a_traffic_file(self):
        with tempfile.TemporaryDirectory() as scratch:
            _, traffic = layouts.chain(scratch, 3, 200, "ns2")
            self.assertEqual(ns3_run.flows(traffic), [(0, 3, 1.0, 0.004, 1480)])

    def test_a_line_in_logarithms_gives_its_exponent(self):
        self.assertAlmostEqual(scaling.exponent([(100, 2.0), (1000, 2.0 * 10**1.15), (10000, 2.0 * 10**2.3)]), 1.15)


if __name__ == "__main__":
    unittest.main()
