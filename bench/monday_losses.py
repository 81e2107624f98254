"""What monday.py's pings and programs lost, and to which of the things that went wrong each loss is put down."""

import bisect
import collections
import re
import statistics

# What a loss can be put down to; the last one wants looking into.
CAUSES = ["battery", "gateway", "redial", "hand-over", "out of range", "link lost", "link new", "none of these"]
# A packet may be on its way for so long before something goes wrong, and routes may take so long to be whole again after it, s.
BEFORE, AFTER = 1, 5

Fault = collections.namedtuple("Fault", "begin end kind host")
# From a node, by its number, to the nearest of others; whether it has another link than its radio.
Flow = collections.namedtuple("Flow", "name source targets roves")


class Sky:
    """Who hears whom when, by a macfilter."""

    def __init__(self, text, count):
        ignored = {n: set() for n in range(count)}
        number = {f"02:00:0a:09:00:{n + 1:02x}": n for n in range(count)}
        self.times, self.links = [], []
        for line in text.splitlines():
            words = line.split()
            if not words or words[0] != "at":
                continue
            ignored[int(words[3])] = {number[a] for a in words[5:] if a != "nobody"}
            if not self.times or self.times[-1] != float(words[1]):
                self.times.append(float(words[1]))
                self.links.append(None)
            self.links[-1] = {(a, b) for a in range(count) for b in range(count) if a != b and not (b in ignored[a] or a in ignored[b])}

    def at(self, t):
        return self.links[max(0, bisect.bisect_right(self.times, t) - 1)]

    def during(self, begin, end):
        """The states of this time, the one at its begin first."""
        first = max(0, bisect.bisect_right(self.times, begin) - 1)
        return self.links[first:max(first + 1, bisect.bisect_right(self.times, end))]

    def apart(self, source, targets, begin, end):
        """Whether at some time no way leads from a node to any of these."""
        return any(not targets & distances(links, {source}).keys() for links in self.during(begin, end))

    def lost_link(self, source, targets, begin, end):
        """Whether a link goes in this time that is on a way from a node to the nearest of these, or on one a hop longer."""
        states = self.during(begin, end)
        return any(is_on_way(before, before - after, source, targets) for before, after in zip(states, states[1:]))

    def new_link(self, source, targets, begin, end):
        """The same of a link that comes."""
        states = self.during(begin, end)
        return any(is_on_way(after, after - before, source, targets) for before, after in zip(states, states[1:]))


def is_on_way(links, some, source, targets):
    there, back = distances(links, {source}), distances(links, targets)
    shortest = back.get(source)
    return shortest is not None and any(there.get(a, 99) + 1 + back.get(b, 99) <= shortest + 1 for a, b in some)


def distances(links, sources):
    """Hops from the nearest source to each node that is reached."""
    found, border = dict.fromkeys(sources, 0), set(sources)
    while border:
        border = {b for a, b in links if a in border and b not in found}
        found.update(dict.fromkeys(border, max(found.values()) + 1))
    return found


def cause(t, flow, faults, sky, period=0):
    """What a packet of a flow was lost by that was sent at `t`. Of several faults the one that began last counts. The roving node relays
    for others, and has another link when no gateway is in reach of its radio; a redial of that concerns nobody else. A protocol with
    periodic updates may need a period after a fault."""
    if sky.apart(flow.source, flow.targets, t - AFTER, t + BEFORE):
        return "hand-over" if flow.roves else "out of range"
    concerns = [f for f in faults if flow.roves or f.kind != "redial"]
    near = [f for f in concerns if f.begin - BEFORE <= t <= f.end + AFTER]
    if near:
        return max(near).kind
    if sky.lost_link(flow.source, flow.targets, t - AFTER, t + BEFORE):
        return "link lost"
    # Nodes begin some tenths of a second apart, and so one end hears the other first.
    if sky.new_link(flow.source, flow.targets, t - BEFORE, t + BEFORE):
        return "link new"
    late = [f for f in concerns if f.end < t <= f.end + period]
    return max(late).kind if late else "none of these"


def pings(text, interval):
    """(number, when it was sent, or None if that is not known; answered) of each ping, from 1."""
    found = re.findall(r"^\[([\d.]+)\] \d+ bytes from .* icmp_seq=(\d+) .*time=([\d.]+) ms", text, re.MULTILINE)
    sent = {int(seq): float(at) - float(ms) / 1000 for at, seq, ms in found}
    count = int(re.search(r"^(\d+) packets transmitted", text, re.MULTILINE)[1])
    known = sorted(sent)
    rows = []
    for seq in range(1, count + 1):
        # One that was lost was sent an interval for each number after, or before, the nearest that was not.
        after = min(bisect.bisect_left(known, seq), len(known) - 1)
        near = min(known[max(0, after - 1):after + 1], key=lambda n: abs(n - seq), default=None)
        rows.append((seq, None if near is None else sent[near] + (seq - near) * interval, seq in sent))
    return rows


def datagrams(text):
    """(received, when each of the others was sent) by what iperf3's server says of each second."""
    received, lost, last = 0, [], None
    for at, missing, total in re.findall(r"^(\d+) \[ *\d+\] .*/sec +[\d.]+ ms +(-?\d+)/(\d+) \([^)]*\) *$", text, re.MULTILINE):
        at, missing, total = float(at), max(0, int(missing)), int(total)
        # The numbers that are missing were sent since the last that came.
        since = max(last, at - 30) if last else at - 1
        lost += [since + (at - since) * (i + 0.5) / missing for i in range(missing)]
        received += total - missing
        if total > missing:
            last = at
    return received, lost


def tables(results):
    """What all rounds found, as Markdown."""
    rounds = collections.defaultdict(list)
    for result in results:
        if "failed" not in result:
            rounds[result["protocol"]].append(result)
    flows = [(protocol, name, [r["flows"][name] for r in of]) for protocol, of in rounds.items() for name in of[0]["flows"]]
    lost = [[protocol.upper(), name, total(of, "sent"), total(of, "lost"), *(sum(f["causes"].get(c, 0) for f in of) for c in CAUSES)]
            for protocol, name, of in flows]
    killed = []
    for protocol, of in rounds.items():
        lacks = [k["missing_s"] for r in of for k in r["killed"]]
        merged = f"{sum(not r['merge'] for r in of)} of {len(of)}"
        lives = sum(not r["tcp"]["died"] for r in of)
        killed.append([protocol.upper(), len(lacks), middle(lacks), merged, f"{lives} of {len(of)}",
                       middle([r["tcp"]["longest_silence_s"] for r in of])])
    compared = []
    for protocol, name, of in flows:
        record = [f["record"] for f in of if "record" in f]
        reasons = sum((collections.Counter(r["reasons"]) for r in record), collections.Counter())
        if record:
            compared.append([protocol.upper(), name, total(of, "sent") - total(of, "lost"),
                             *(total(record, key) for key in ("answered", "in_gaps", "missing", "beyond")),
                             ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())])
    return "\n\n".join([
        table(["protocol", "flow", "sent", "lost", *CAUSES], lost),
        table(["protocol", "nodes killed", "missing at the end of the record, s: median (maximum)", "rounds merged",
               "TCP connections that survived", "longest time without an echo, s: median (maximum)"], killed),
        table(["protocol", "flow", "pings answered", "also in the merged run", "missing, sender killed", "missing, other",
               "only in the merged run", "causes of loss in the merged run"], compared)])


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [head, ["---"] * len(head), *rows])


def total(rows, key):
    return sum(r[key] for r in rows)


def middle(figures):
    return f"{statistics.median(figures):.1f} ({max(figures):.1f})" if figures else "-"
