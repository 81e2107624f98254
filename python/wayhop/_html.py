"""Runs and sweeps as tables in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .runs import Run
    from .sweeps import Sweep

_MOST_ROWS = 40


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; every text in it is escaped."""
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(text(c))}</td>" for c in row) + "</tr>" for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{cells}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def text(value: object) -> str:
    """A cell: an undefined figure is a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def of_run(run: Run) -> str:
    """The totals of a run."""
    caption = f"{run.directory}: {run.status}"
    if not (run.directory / "summary.json").is_file():
        return table(caption, ["no summary yet"], [])
    summary = run.summary
    totals = summary.totals
    latency = totals.latency_ms
    rows: list[tuple[str, object, str]] = [
        ("protocol", summary.protocol, ""),
        ("seed", str(summary.seed), ""),
        ("duration", summary.simulated_s, "s"),
        ("sent", totals.sent, "packets"),
        ("received", totals.received, "packets"),
        ("delivery ratio", totals.delivery_ratio, ""),
        ("latency, mean", latency.mean if latency else None, "ms"),
        ("latency, 95th percentile", latency.p95 if latency else None, "ms"),
        ("hops, mean", totals.hops_mean, ""),
        ("routing packets", totals.routing_packets, ""),
        ("normalised routing load", totals.normalised_routing_load, ""),
    ]
    rows += [(f"dropped: {reason}", count, "packets") for reason, count in sorted(totals.drops.items())]
    return table(f"{summary.scenario}, {caption}", ["figure", "value", "unit"], rows)


def of_sweep(sweep: Sweep) -> str:
    """The means of a sweep's metrics with their intervals."""
    means = sweep.means()
    caption = f"{sweep.directory}: {len(sweep.runs)} of {sweep.planned} runs; means with 95 % intervals"
    if means.height > _MOST_ROWS:
        caption += f"; the first {_MOST_ROWS} of {means.height} rows"
    return table(caption, means.columns, means.head(_MOST_ROWS).rows())
