"""Confidence intervals of means and differences, and corrections for many comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

from ..errors import refuse


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval, in the unit of the values."""

    mean: float
    """The estimate."""
    low: float | None
    """Lower end; None if it is undefined, as for a single value."""
    high: float | None
    """Upper end; None if it is undefined."""
    values: int
    """Number of independent values."""
    p_value: float | None = None
    """Two-sided p value of the hypothesis that a difference is zero; None for a mean, or if undefined."""

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None if it is undefined."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of independent values, such as one per seed, by Student's t distribution."""
    data = _finite(values)
    _check(confidence)
    mean, error = _moments(data)
    if error is None:
        return Interval(mean, None, None, len(data))
    half = _quantile(confidence, len(data) - 1) * error
    return Interval(mean, mean - half, mean + half, len(data))


def paired_interval(values: Sequence[float], baseline: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of ``values - baseline`` in pairs, such as runs of two protocols with the same seed.

    What both values of a pair share, such as the movement, does not widen the interval.
    """
    if len(values) != len(baseline):
        what = f"{len(values)} values and {len(baseline)} of the baseline are not pairs"
        raise refuse(what, "give equally many, or use unpaired_interval")
    pairs = zip(_finite(values), _finite(baseline), strict=True)
    differences = [a - b for a, b in pairs]
    found = mean_interval(differences, confidence)
    _, error = _moments(differences)
    p = None if not error else _p_value(found.mean / error, len(differences) - 1)
    return Interval(found.mean, found.low, found.high, found.values, p)


def unpaired_interval(
    values: Sequence[float], baseline: Sequence[float], confidence: float = 0.95
) -> Interval:
    """The difference of the means of two independent samples, by Welch's method."""
    _check(confidence)
    a, b = _finite(values), _finite(baseline)
    (mean_a, error_a), (mean_b, error_b) = _moments(a), _moments(b)
    mean, count = mean_a - mean_b, len(a) + len(b)
    if error_a is None or error_b is None or error_a == error_b == 0:
        return Interval(mean, None, None, count)
    error = sqrt(error_a**2 + error_b**2)
    # Welch-Satterthwaite.
    freedom = error**4 / (error_a**4 / (len(a) - 1) + error_b**4 / (len(b) - 1))
    half = _quantile(confidence, freedom) * error
    return Interval(mean, mean - half, mean + half, count, _p_value(mean / error, freedom))


def bootstrap_interval(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float] | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 9999,
    seed: int = 1,
) -> Interval:
    """A bias-corrected and accelerated bootstrap interval (Efron 1987) of any statistic; default: the mean.

    Use it for figures that are far from normally distributed. It needs about 20 values: with fewer, its
    intervals are too narrow. The same seed gives the same interval.
    """
    import numpy
    from scipy.stats import bootstrap

    data = _finite(values)
    _check(confidence)
    figure: Callable[[Sequence[float]], float] = statistic or (lambda sample: float(numpy.mean(sample)))
    if len(data) < 2:
        return Interval(float(figure(data)), None, None, len(data))
    if len(set(data)) == 1:
        same = float(figure(data))
        return Interval(same, same, same, len(data))
    found = bootstrap(
        (data,),
        figure,
        confidence_level=confidence,
        n_resamples=resamples,
        vectorized=False,
        method="BCa",
        rng=numpy.random.default_rng(seed),
    )
    low, high = (float(end) for end in found.confidence_interval)
    is_known = isfinite(low) and isfinite(high)
    return Interval(float(figure(data)), low if is_known else None, high if is_known else None, len(data))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values of several comparisons, adjusted by Holm's method (1979), in the same order.

    Comparisons with an adjusted p value up to 0.05 are significant with a family-wise error of 5 %.
    """
    if any(not 0 <= p <= 1 for p in p_values):
        raise refuse("p values are between 0 and 1", "leave out undefined ones")
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def _finite(values: Sequence[float]) -> list[float]:
    data = [float(value) for value in values]
    if not data or not all(map(isfinite, data)):
        raise refuse("a mean needs one or more finite values", "leave out undefined figures (null, NaN)")
    return data


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise refuse(
            f"confidence: {confidence} is not between 0 and 1", "give 0.95 for 95 %", key="confidence"
        )


def _moments(data: Sequence[float]) -> tuple[float, float | None]:
    """The mean and its standard error; None for one value."""
    n = len(data)
    mean = sum(data) / n
    if n < 2:
        return mean, None
    return mean, sqrt(sum((value - mean) ** 2 for value in data) / (n - 1) / n)


def _quantile(confidence: float, freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def _p_value(t: float, freedom: float) -> float:
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -abs(t)))
