"""Add seeds until the intervals are narrow enough."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from math import ceil
from typing import TYPE_CHECKING

from ..errors import refuse

if TYPE_CHECKING:
    from ..sweeps import Sweep


def sweep_until(
    plan: str | os.PathLike[str],
    figure: str,
    half_width: float,
    *,
    relative: bool = False,
    first: int = 10,
    most: int = 200,
    vary: Mapping[str, Iterable[object]] | None = None,
    set: Mapping[str, object] | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    executor: object | None = None,
    progress: bool = True,
) -> Sweep:
    """Runs a sweep with more and more seeds until each mean of a figure is known to ``half_width``.

    Every combination of values gets the same seeds, so that pairs stay pairs. Runs of earlier rounds are
    kept. A rule that looks at its own intervals stops a little too early: with ``first`` of 10 or more,
    the 95 % intervals still cover about 93 % (Law and Kelton).

    Args:
        plan: A plan, or a scenario file, as for `wayhop.sweep`.
        figure: The figure, such as ``"delivery_ratio"``.
        half_width: Largest half width of the 95 % intervals, in the figure's unit.
        relative: ``half_width`` is a share of the mean instead.
        first: Seeds of the first round.
        most: Most seeds per combination. If they are not enough, a warning says so.
        vary: Axes, as for `wayhop.sweep`.
        set: Keys to set in all runs.
        out: Folder for the results. Default: runs/sweep-NAME.
        jobs: Number of runs at a time. Default: the number of processors.
        executor: Where to run, as for `wayhop.sweep`.
        progress: Show a progress bar.
    """
    from ..sweeps import sweep

    if half_width <= 0:
        raise refuse(
            f"half_width: {half_width} is not above 0", "give a width in the figure's unit", key="half_width"
        )
    if not 2 <= first <= most:
        raise refuse(f"first: {first} is not between 2 and most = {most}", "give 10 or more", key="first")
    seeds = first
    while True:
        done = sweep(
            plan,
            seeds=seeds,
            vary=vary,
            set=set,
            metrics=[figure],
            out=out,
            jobs=jobs,
            executor=executor,
            progress=progress,
        )
        excess = _excess(done, figure, half_width, relative)
        if excess <= 1:
            return done
        if seeds >= most:
            warnings.warn(
                f"{figure}: with {seeds} seeds the widest interval is {excess:.2g} times as wide as asked",
                stacklevel=2,
            )
            return done
        # The width falls with the root of the number of runs; half of what that predicts, for it may be a bad guess.
        wanted = ceil(seeds * min(excess**2, 4.0))
        seeds = min(most, max(seeds + 1, (seeds + wanted) // 2))


def _excess(sweep: Sweep, figure: str, half_width: float, relative: bool) -> float:
    """The widest interval, as a multiple of what is allowed; infinite where there is none."""
    found: list[float] = []
    for mean, low, high in sweep.mean(figure).select("mean", "ci95_low", "ci95_high").iter_rows():
        if low is None or (relative and mean == 0):
            return float("inf")
        found.append((high - low) / 2 / (half_width * abs(mean) if relative else half_width))
    return max(found)
