"""Figures as matplotlib axes, from the same data and in the same style as `wayhop plot`.

The command computes what a figure shows; these functions draw it, so that you can combine, annotate and
restyle it. Each takes ``ax``, an axes to draw into (figures with several panels take a sequence), and
returns what it drew into. Needs the extra ``wayhop[plot]``.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _command
from .errors import missing, refuse

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .runs import Run
    from .sweeps import Sweep

COLOURS = ("#006DAE", "#D55E00", "#008F68", "#B04F8A", "#8A6D00", "#5B5F97")
"""Colours of series, which readers of any colour vision tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P")
"""Markers of series."""
_TEXT, _GRID = "#1B1F24", "#E3E6EA"

Runs = Union["Run", str, "os.PathLike[str]"]
"""A run, its directory, or a folder of run directories that differ only in their seeds."""


def delivery(*runs: Runs, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Share of packets that arrive (%), over the time at which they were sent (s)."""
    return _one("delivery", runs, ax, labels)


def throughput(*runs: Runs, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """kb/s received, over time (s)."""
    return _one("throughput", runs, ax, labels)


def latency(*runs: Runs, ax: Sequence[Axes] | None = None, labels: Sequence[str] | None = None) -> list[Axes]:
    """Median and 95th percentile of the latency (ms), over the time at which packets were sent (s)."""
    return _draw(_of_runs("latency", runs, labels), ax)


def cdf(*runs: Runs, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Latency of all packets that arrived (ms), as a cumulative distribution (%)."""
    return _one("cdf", runs, ax, labels)


def losses(*runs: Runs, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Share of packets lost (%), by cause."""
    return _one("losses", runs, ax, labels)


def hops(*runs: Runs, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Share of the packets delivered (%), by their number of hops."""
    return _one("hops", runs, ax, labels)


def overhead(*runs: Runs, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Transmissions of the routing protocol's messages per run, by type."""
    return _one("overhead", runs, ax, labels)


def searches(*runs: Runs, ax: Axes | None = None, labels: Sequence[str] | None = None) -> Axes:
    """Durations of route searches (ms), as a cumulative distribution (%)."""
    return _one("searches", runs, ax, labels)


def sequence(
    *runs: Runs, ax: Sequence[Axes] | None = None, labels: Sequence[str] | None = None
) -> list[Axes]:
    """Bytes sent and acknowledged by TCP senders, over time (s)."""
    return _draw(_of_runs("sequence", runs, labels), ax)


def sweep(
    results: Sweep | str | os.PathLike[str],
    y: str,
    *,
    x: str | None = None,
    by: str | None = None,
    only: Mapping[str, object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Means of a figure along an axis of a sweep, with 95 % intervals.

    Args:
        results: The sweep, or its folder.
        y: The figure, such as ``"delivery_ratio"``.
        x: The axis to draw horizontally. Default: the first one not used otherwise.
        by: The axis whose values become series.
        only: Values of other axes: ``{"nodes.count": 50}``.
        ax: Axes to draw into.
    """
    return _draw(_of_sweep("sweep", results, y, x, by, only), [ax] if ax is not None else None)[0]


def differences(
    results: Sweep | str | os.PathLike[str],
    y: str,
    *,
    x: str | None = None,
    by: str | None = None,
    only: Mapping[str, object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Paired differences (same seed) to the first value of ``by`` or ``x``, with 95 % intervals."""
    return _draw(_of_sweep("differences", results, y, x, by, only), [ax] if ax is not None else None)[0]


@dataclass
class _Series:
    """One line or one set of bars."""

    x: list[str] = field(default_factory=list)
    y: list[str] = field(default_factory=list)
    low: list[str] = field(default_factory=list)
    high: list[str] = field(default_factory=list)


@dataclass
class _Panel:
    """One plot of a figure."""

    title: str
    x_label: str
    y_label: str
    series: dict[str, _Series] = field(default_factory=dict)


def _of_runs(kind: str, runs: Sequence[Runs], labels: Sequence[str] | None) -> tuple[str, list[_Panel]]:
    if not runs:
        raise refuse("there is no run to draw", f"wayhop.plot.{kind}(run)")
    places = [str(getattr(run, "directory", run)) for run in runs]
    panels = _data([kind, *places])
    if labels is not None:
        if len(labels) != len(runs):
            raise refuse(f"{len(labels)} labels for {len(runs)} runs", "give one for each run", key="labels")
        for panel in panels:
            names = list(panel.series)
            if len(names) == len(labels):
                panel.series = dict(zip(labels, panel.series.values(), strict=True))
    return kind, panels


def _of_sweep(
    kind: str,
    results: Sweep | str | os.PathLike[str],
    y: str,
    x: str | None,
    by: str | None,
    only: Mapping[str, object] | None,
) -> tuple[str, list[_Panel]]:
    place = str(getattr(results, "directory", results))
    chosen = [f"{name}={value}" for name, value in (only or {}).items()]
    return kind, _data([kind, place, *_command.arguments_of(x=x, y=y, by=by, only=chosen)])


def _data(arguments: Sequence[str]) -> list[_Panel]:
    """What the command draws, from the CSV file beside its figure."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "figure.svg"
        _command.call(["plot", *arguments, "--out", str(picture)], notes=False)
        with picture.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    panels: dict[str, _Panel] = {}
    for row in rows:
        title = row["panel"]
        panel = panels.setdefault(title, _Panel(title, row["x_axis"], row["y_axis"]))
        series = panel.series.setdefault(row["series"], _Series())
        for column, name in (("x", "x"), ("y", "y"), ("low", "ci95_low"), ("high", "ci95_high")):
            getattr(series, column).append(row[name])
    return list(panels.values())


def _one(kind: str, runs: Sequence[Runs], ax: Axes | None, labels: Sequence[str] | None) -> Axes:
    return _draw(_of_runs(kind, runs, labels), [ax] if ax is not None else None)[0]


def _draw(figure: tuple[str, list[_Panel]], given: Sequence[Axes] | None) -> list[Axes]:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise missing("matplotlib", "plot") from None
    kind, panels = figure
    if given is None:
        _, made = pyplot.subplots(len(panels), 1, squeeze=False, layout="constrained")
        given = [axes for row in made for axes in row]
    if len(given) != len(panels):
        raise refuse(f"the figure has {len(panels)} panels, and ax {len(given)}", "give as many", key="ax")
    for axes, panel in zip(given, panels, strict=True):
        if panel.y_label:
            _lines(axes, panel, kind)
        else:
            _bars(axes, panel)
        _style(axes, panel)
    return list(given)


def _lines(axes: Axes, panel: _Panel, kind: str) -> None:
    """Points over numbers, or over words side by side."""
    words = not all(_is_number(x) for series in panel.series.values() for x in series.x)
    places = {w: i for i, w in enumerate(dict.fromkeys(x for s in panel.series.values() for x in s.x))}
    many = len(panel.series)
    steps = kind in ("cdf", "searches")
    for number, (name, series) in enumerate(panel.series.items()):
        known = [i for i, y in enumerate(series.y) if _is_number(y)]
        y = [float(series.y[i]) for i in known]
        if not name and len(known) == 1 and kind == "differences":
            axes.axhline(y[0], color="#6B727C", linewidth=1)
            continue
        shift = (number - (many - 1) / 2) * 0.12 if words else 0.0
        x = [places[series.x[i]] + shift if words else float(series.x[i]) for i in known]
        look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "label": name or None}
        if not steps and len(known) <= 40:
            look["marker"] = MARKERS[number % len(MARKERS)]
        if steps:
            axes.step(x, y, where="post", **look)
        elif any(_is_number(series.low[i]) for i in known):
            below = [
                max(0.0, b - float(series.low[i])) if series.low[i] else 0.0
                for i, b in zip(known, y, strict=True)
            ]
            above = [
                max(0.0, float(series.high[i]) - b) if series.high[i] else 0.0
                for i, b in zip(known, y, strict=True)
            ]
            look["linestyle"] = "none" if words else "-"
            axes.errorbar(x, y, yerr=[below, above], capsize=3, **look)
        else:
            axes.plot(x, y, linestyle="none" if words else "-", **look)
    if steps and all(float(x) > 0 for series in panel.series.values() for x in series.x):
        axes.set_xscale("log")
    if words:
        axes.set_xticks(list(places.values()), list(places))


def _bars(axes: Axes, panel: _Panel) -> None:
    """Horizontal bars by name, the first on top."""
    names = list(dict.fromkeys(name for series in panel.series.values() for name in series.y))
    height = 0.8 / len(panel.series)
    for number, (label, series) in enumerate(panel.series.items()):
        places = [names.index(name) + (number - (len(panel.series) - 1) / 2) * height for name in series.y]
        widths = [float(x) if _is_number(x) else 0.0 for x in series.x]
        look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "label": label or None}
        if any(series.low):
            below = [
                max(0.0, w - float(low)) if low else 0.0 for w, low in zip(widths, series.low, strict=True)
            ]
            above = [
                max(0.0, float(high) - w) if high else 0.0
                for w, high in zip(widths, series.high, strict=True)
            ]
            look |= {"xerr": [below, above], "ecolor": _TEXT, "capsize": 2}
        axes.barh(places, widths, height, **look)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def _style(axes: Axes, panel: _Panel) -> None:
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.title:
        axes.set_title(panel.title, fontsize="medium")
    axes.grid(color=_GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=_TEXT)
    if any(panel.series):
        axes.legend(frameon=False)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
