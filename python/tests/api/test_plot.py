"""Figures show what the summaries and tables of the command say."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from conftest import FIRST, SHORT
from matplotlib import pyplot

import wayhop
from wayhop import plot

KINDS = ("delivery", "throughput", "cdf", "losses", "hops", "overhead", "searches")


@pytest.fixture(scope="module")
def other(scratch: Path) -> wayhop.Run:
    return wayhop.run(FIRST, protocol="aodv", set=SHORT, out=scratch / "other", progress=False)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_figure_has_a_series_for_each_run(
    kind: str, recorded: wayhop.Run, other: wayhop.Run
) -> None:
    axes = getattr(plot, kind)(recorded, other.directory, labels=["DSR", "AODV"])
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["DSR", "AODV"]
    assert axes.get_xlabel()
    pyplot.close(axes.figure)


def test_losses_are_the_summarys_shares(recorded: wayhop.Run) -> None:
    totals = recorded.summary.totals
    axes = plot.losses(recorded)
    names = [label.get_text() for label in axes.get_yticklabels()]
    widths = {name: bar.get_width() for name, bar in zip(names, axes.patches, strict=True)}
    lost = {**totals.drops, "held at the end": totals.held or 0}
    for name, count in lost.items():
        assert widths.get(name, 0.0) == pytest.approx(100 * count / totals.sent)
    assert axes.get_xlabel() == "packets sent (%)"
    pyplot.close("all")


def test_the_last_point_of_the_cdf_is_the_largest_latency(recorded: wayhop.Run) -> None:
    latency = recorded.summary.totals.latency_ms
    assert latency is not None
    line = plot.cdf(recorded).get_lines()[0]
    assert line.get_xdata()[-1] == pytest.approx(latency.max)
    assert line.get_ydata()[-1] == pytest.approx(100)
    pyplot.close("all")


def test_a_figure_of_a_sweep_shows_table_csv(swept: wayhop.Sweep) -> None:
    axes = plot.sweep(swept, "delivery_ratio", x="nodes", by="protocol")
    with (swept.directory / "table.csv").open(newline="") as file:
        table = [row for row in csv.DictReader(file) if row["metric"] == "totals.delivery_ratio"]
    for container in axes.containers:
        expected = [row for row in table if row["protocol"] == container.get_label()]
        line, _, (bars,) = container.lines
        assert list(line.get_ydata()) == pytest.approx([float(row["mean"]) for row in expected])
        ends = [(segment[0][1], segment[1][1]) for segment in bars.get_segments()]
        for (low, high), row in zip(ends, expected, strict=True):
            assert (low, high) == pytest.approx((float(row["ci95_low"]), float(row["ci95_high"])))
    assert len(axes.containers) == 3
    plot.differences(swept, "delivery_ratio", x="nodes", by="protocol")
    pyplot.close("all")


def test_figures_go_into_given_axes_and_errors_keep_their_remedy(
    recorded: wayhop.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure, given = pyplot.subplots(1, 3)
    assert plot.delivery(recorded, ax=given[0]) is given[0]
    assert plot.latency(recorded, ax=given[1:]) == list(given[1:])
    pyplot.close(figure)
    with pytest.raises(wayhop.InputError, match="2 panels, and ax 1"):
        plot.latency(recorded, ax=[given[0]])
    with pytest.raises(wayhop.InputError, match="no TCP flows"):
        plot.sequence(recorded)
    with pytest.raises(wayhop.InputError, match="no run to draw"):
        plot.hops()
    with pytest.raises(wayhop.InputError, match="2 labels for 1 runs"):
        plot.hops(recorded, labels=["a", "b"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(wayhop.MissingError, match=r"pip install 'wayhop\[plot\]'"):
        plot.delivery(recorded)
