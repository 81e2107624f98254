#!/usr/bin/env python3
"""Read an ns-2 old-format wireless trace (agent and router trace on) into the quantities of `wayhop run --json`.

    ns2_trace.py TRACE [--flows]

What is counted, so that both simulators mean the same:

* sent, received: application packets of constant-bit-rate flows; a second copy of one packet is not received again;
* routing_packets: every transmission of a routing packet, first or forwarded, as the routing layer hands it down;
* hops: the wireless transmissions a delivered packet took (ns-2 counts them in the packet's last but one trace field);
* latency: from the application's send to the delivery, in milliseconds;
* drops: of application packets by LAYER:REASON; of routing packets apart.
"""

import argparse
import collections
import json
import re
import sys

AODV_TYPE = re.compile(r"\((REQUEST|REPLY|ERROR|HELLO)\)")
DSR_OPTIONS = re.compile(r"\] (\d+) \[(\d) \d+\] \[(\d) ")
DSR_ERROR = re.compile(r" \[(\d) \d+ -?\d+ -?\d+->-?\d+\]\s*$")
ENDPOINTS = re.compile(r"\[(-?\d+):\d+ (-?\d+):\d+ ")
ROUTING = ("DSR", "AODV", "message")


def percentile(ordered, q):
    """The smallest value with at least the share q of the sample at or below it."""
    if not ordered:
        return 0.0
    rank = max(0, min(len(ordered) - 1, -int(-q * len(ordered) // 1) - 1))
    return ordered[rank]


def spread(values):
    """Mean and quantiles of a sample."""
    ordered = sorted(values)
    summary = {"mean": sum(ordered) / len(ordered) if ordered else 0.0}
    for name, q in (
        ("p10", 0.1),
        ("p25", 0.25),
        ("p50", 0.5),
        ("p75", 0.75),
        ("p90", 0.9),
        ("p95", 0.95),
        ("p99", 0.99),
    ):
        summary[name] = percentile(ordered, q)
    summary["max"] = ordered[-1] if ordered else 0.0
    return {name: round(value, 4) for name, value in summary.items()}


class TraceReader:
    """Accumulates a trace line by line; `summary` may be taken at any time."""

    def __init__(self):
        self.sent_at = {}
        self.flow_of = {}
        self.delivered = set()
        self.latencies = []
        self.hops = collections.Counter()
        self.data_transmissions = 0
        self.routing_packets = 0
        self.routing_bytes = 0
        self.by_type = collections.Counter()
        self.drops = collections.Counter()
        self.routing_drops = collections.Counter()
        self.dsr_log = collections.Counter()
        self.mac_sent = collections.Counter()
        self.mac_drops = collections.Counter()
        self.flow_sent = collections.Counter()
        self.flow_received = collections.Counter()

    def line(self, text):
        event = text[:2]
        if event not in ("s ", "r ", "f ", "D "):
            if text.startswith("S"):
                self.dsr_log[" ".join(text.split(None, 4)[0:1])] += 1
            return
        # event time _node_ layer reason uid type size ...
        fields = text.split(None, 8)
        if len(fields) < 8:
            return
        layer, kind = fields[3], fields[6]
        if layer == "MAC":
            if event == "s ":
                self.mac_sent[kind] += 1
            elif event == "D ":
                self.mac_drops[fields[4] + ":" + kind] += 1
                if kind == "cbr":
                    self.drops["MAC:" + fields[4]] += 1
        elif kind == "cbr":
            self.data_line(event, layer, fields, text)
        elif kind in ROUTING:
            self.routing_line(event, layer, fields, text)

    def data_line(self, event, layer, fields, text):
        uid = fields[5]
        if layer == "AGT":
            if event == "s ":
                self.sent_at[uid] = float(fields[1])
                source, target = ENDPOINTS.search(text).groups()
                self.flow_of[uid] = (int(source), int(target))
                self.flow_sent[self.flow_of[uid]] += 1
            elif event == "r " and uid in self.sent_at and uid not in self.delivered:
                self.delivered.add(uid)
                self.latencies.append(1000.0 * (float(fields[1]) - self.sent_at[uid]))
                self.hops[int(text.rsplit(None, 2)[1])] += 1
                self.flow_received[self.flow_of[uid]] += 1
        elif layer == "RTR" and event in ("s ", "f "):
            self.data_transmissions += 1
        if event == "D ":
            self.drops[layer + ":" + fields[4]] += 1

    def routing_line(self, event, layer, fields, text):
        if event == "D ":
            self.routing_drops[layer + ":" + fields[4]] += 1
        elif layer == "RTR" and event in ("s ", "f "):
            self.routing_packets += 1
            self.routing_bytes += int(fields[7])
            for name in message_types(fields[6], text):
                self.by_type[name] += 1

    def summary(self, flows=False):
        sent, received = len(self.sent_at), len(self.delivered)
        carried = sum(count * hops for hops, count in self.hops.items())
        out = {
            "sent": sent,
            "received": received,
            "delivery_ratio": round(received / sent, 6) if sent else 0.0,
            "routing_packets": self.routing_packets,
            "routing_bytes": self.routing_bytes,
            "by_type": dict(sorted(self.by_type.items())),
            "data_transmissions": self.data_transmissions,
            "hops_mean": round(carried / received, 4) if received else 0.0,
            "hops": {str(hops): count for hops, count in sorted(self.hops.items())},
            "latency_ms": spread(self.latencies),
            "drops": dict(sorted(self.drops.items())),
            "routing_drops": dict(sorted(self.routing_drops.items())),
        }
        if self.dsr_log:
            out["dsr_log"] = dict(sorted(self.dsr_log.items()))
        if self.mac_sent:
            out["mac_sent"] = dict(sorted(self.mac_sent.items()))
            out["mac_drops"] = dict(sorted(self.mac_drops.items()))
        if flows:
            out["flows"] = [
                {"src": pair[0], "dst": pair[1], "sent": count, "received": self.flow_received[pair]}
                for pair, count in sorted(self.flow_sent.items())
            ]
        return out


def message_types(kind, text):
    """The routing messages in one packet: one for AODV, each option of DSR's header that is present."""
    if kind == "AODV":
        found = AODV_TYPE.search(text)
        return (
            [{"REQUEST": "rreq", "REPLY": "rrep", "ERROR": "rerr", "HELLO": "hello"}[found[1]]] if found else ["other"]
        )
    options = DSR_OPTIONS.search(text)
    if options is None:
        return ["other"]
    error = DSR_ERROR.search(text)
    names = [
        name
        for name, present in (
            ("rreq", options[2] != "0"),
            ("rrep", options[3] != "0"),
            ("rerr", error is not None and error[1] != "0"),
        )
        if present
    ]
    return names or ["other"]


def read(path, flows=False):
    """The summary of the trace file (or named pipe) at `path`."""
    reader = TraceReader()
    with open(path, encoding="ascii", errors="replace") as lines:
        for text in lines:
            reader.line(text)
    return reader.summary(flows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("--flows", action="store_true", help="also list each flow")
    arguments = parser.parse_args()
    json.dump(read(arguments.trace, arguments.flows), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
