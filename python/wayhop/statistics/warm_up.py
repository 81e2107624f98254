"""Removal of the warm-up from the output of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import refuse


@dataclass(frozen=True)
class WarmUp:
    """Where the steady state begins."""

    batches: int
    """Number of batches to leave out."""
    values: int
    """Number of values to leave out."""
    mean: float
    """Mean of the batches that remain."""
    is_reliable: bool
    """False if the minimum lies at the last cut that is tried: the series is too short."""


def mser5(series: Sequence[float], batch: int = 5) -> WarmUp:
    """The warm-up by MSER-5 (White, Cobb and Spratt 2000).

    It takes means of ``batch`` consecutive values, and leaves out the first batches so that the standard
    error of the mean of the others is smallest; at most half of them. Values beyond the last full batch
    do not count.
    """
    if batch < 1:
        raise refuse(
            f"batch: {batch} is not a size", "give 5, or 1 for values that are means already", key="batch"
        )
    whole = len(series) // batch
    if whole < 4:
        what = f"MSER-{batch} needs {4 * batch} values or more, and there are {len(series)}"
        raise refuse(what, "record a longer series")
    means = [sum(series[i * batch : (i + 1) * batch]) / batch for i in range(whole)]
    most = whole // 2
    scores = [_score(means[cut:]) for cut in range(most + 1)]
    cut = min(range(most + 1), key=lambda i: scores[i])
    return WarmUp(cut, cut * batch, sum(means[cut:]) / (whole - cut), cut < most)


def _score(rest: Sequence[float]) -> float:
    """The squared standard error of the mean, with a divisor of n as in MSER."""
    mean = sum(rest) / len(rest)
    return sum((value - mean) ** 2 for value in rest) / len(rest) ** 2
