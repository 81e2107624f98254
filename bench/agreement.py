"""When two simulators agree: the quantities, their bounds, and the verdict. No simulator is run here."""

import statistics

# Quantity, how far apart the means may be, and whether that is a difference or a share of ns-2's mean.
BOUNDS = [
    ("delivery_pct", 2.0, "points"),
    ("routing_packets", 0.25, "share"),
    ("hops_mean", 0.05, "share"),
    ("latency_ms_p50", 0.25, "share"),
]


def of_ns2(run):
    """The compared quantities of a run read by ns2_trace."""
    return {
        "delivery_pct": 100.0 * run["delivery_ratio"],
        "routing_packets": run["routing_packets"],
        "hops_mean": run["hops_mean"],
        "latency_ms_p50": run["latency_ms"]["p50"],
    }


def of_wayhop(summary):
    """The compared quantities of a `wayhop run --json` summary."""
    totals, flows = summary["totals"], summary["flows"]
    carried = sum(flow["hops_mean"] * flow["received"] for flow in flows if flow["received"])
    return {
        "delivery_pct": 100.0 * totals["delivery_ratio"],
        "routing_packets": totals["routing_packets"],
        "hops_mean": carried / totals["received"] if totals["received"] else 0.0,
        # Of all packets together: the flows' medians do not give it.
        "latency_ms_p50": totals["latency_ms"]["p50"],
    }


def spread(values):
    """Mean and sample standard deviation."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def compare(ns2_runs, wayhop_runs):
    """One row for each quantity; both arguments are lists of what `of_ns2` and `of_wayhop` give."""
    rows = []
    for quantity, bound, kind in BOUNDS:
        theirs, their_deviation = spread([run[quantity] for run in ns2_runs])
        ours, our_deviation = spread([run[quantity] for run in wayhop_runs])
        apart = abs(ours - theirs)
        if kind == "share":
            apart = apart / theirs if theirs else (0.0 if apart == 0.0 else float("inf"))
        rows.append(
            {
                "quantity": quantity,
                "ns2": round(theirs, 4),
                "ns2_sd": round(their_deviation, 4),
                "wayhop": round(ours, 4),
                "wayhop_sd": round(our_deviation, 4),
                "apart": round(apart, 4),
                "bound": bound,
                "kind": kind,
                "pass": apart <= bound,
            }
        )
    return rows
