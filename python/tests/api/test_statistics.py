"""Statistics against scipy, statsmodels and functions with known answers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import FIRST
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

import wayhop
from wayhop import statistics
from wayhop.statistics import sensitivity

RNG = numpy.random.default_rng(7)
A, B = RNG.normal(10, 2, 12).tolist(), RNG.normal(11, 5, 12).tolist()


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_intervals_of_means_and_differences(confidence: float) -> None:
    found = statistics.mean_interval(A, confidence)
    assert (found.low, found.high) == pytest.approx(DescrStatsW(A).tconfint_mean(1 - confidence), rel=1e-9)
    paired, test = statistics.paired_interval(A, B, confidence), stats.ttest_rel(A, B)
    assert (paired.low, paired.high) == pytest.approx(tuple(test.confidence_interval(confidence)), rel=1e-9)
    assert paired.p_value == pytest.approx(test.pvalue, rel=1e-9)
    unpaired = statistics.unpaired_interval(A, B[:9], confidence)
    compared = CompareMeans(DescrStatsW(A), DescrStatsW(B[:9]))
    ends = compared.tconfint_diff(1 - confidence, usevar="unequal")
    assert (unpaired.low, unpaired.high) == pytest.approx(ends, rel=1e-9)
    assert unpaired.p_value == pytest.approx(stats.ttest_ind(A, B[:9], equal_var=False).pvalue, rel=1e-9)


def test_what_is_undefined_is_none_or_refused() -> None:
    one = statistics.mean_interval([3.0])
    assert (one.mean, one.low, one.high, one.half_width) == (3.0, None, None, None)
    assert statistics.unpaired_interval([1.0], A).low is None
    assert statistics.paired_interval([1.0, 1.0], [1.0, 1.0]).p_value is None
    assert statistics.bootstrap_interval([2.0, 2.0, 2.0]).half_width == 0
    for wrong in ([], [1.0, math.nan], [math.inf]):
        with pytest.raises(wayhop.InputError):
            statistics.mean_interval(wrong)
    with pytest.raises(wayhop.InputError, match="not pairs"):
        statistics.paired_interval(A, A[:3])
    with pytest.raises(wayhop.InputError, match="confidence"):
        statistics.mean_interval(A, 95)


def test_the_bootstrap_is_reproducible_and_near_a_known_interval() -> None:
    sample = RNG.normal(0, 1, 400).tolist()
    found, exact = statistics.bootstrap_interval(sample), statistics.mean_interval(sample)
    assert found == statistics.bootstrap_interval(sample)
    assert found.half_width == pytest.approx(exact.half_width, rel=0.05)
    # The interval of a median by order statistics (binomial), which needs no resampling.
    ranked = sorted(sample)
    low, high = (ranked[int(stats.binom.ppf(p, 400, 0.5))] for p in (0.025, 0.975))
    median = statistics.bootstrap_interval(sample, numpy.median)
    assert (median.low, median.high) == pytest.approx((low, high), abs=0.03)


def test_holm_is_that_of_statsmodels() -> None:
    for p_values in ([0.01, 0.04, 0.03, 0.005], [0.9, 0.9, 0.01], RNG.uniform(size=20).tolist()):
        assert statistics.holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())
    with pytest.raises(wayhop.InputError):
        statistics.holm([math.nan])


def test_mser5_finds_the_end_of_a_transient() -> None:
    steady = RNG.normal(5, 1, 1000)
    decay = 40 * numpy.exp(-numpy.arange(1000) / 30)
    found = statistics.mser5((steady + decay).tolist())
    # The definition, with numpy: the cut with the smallest squared standard error of batch means.
    batches = (steady + decay).reshape(-1, 5).mean(axis=1)
    scores = [batches[cut:].var() / len(batches[cut:]) for cut in range(101)]
    assert found.batches == int(numpy.argmin(scores)) and found.values == 5 * found.batches
    assert 60 < found.values < 250 and found.is_reliable
    assert found.mean == pytest.approx(5, abs=0.15)
    assert statistics.mser5((50 - numpy.arange(100.0)).tolist()).is_reliable is False
    with pytest.raises(wayhop.InputError, match="needs 20 values"):
        statistics.mser5([1.0] * 19)


def test_seeds_are_added_until_the_interval_is_narrow_enough(scratch: Path) -> None:
    settings = {"duration_s": 15, "nodes.count": 20}
    narrow = statistics.sweep_until(
        FIRST, "delivery_ratio", 0.1, first=8, most=60, set=settings, out=scratch / "until", progress=False
    )
    ratios = narrow.frame(["delivery_ratio"])["delivery_ratio"].to_list()
    low, high = stats.t.interval(0.95, len(ratios) - 1, loc=numpy.mean(ratios), scale=stats.sem(ratios))
    assert (high - low) / 2 <= 0.1 and 8 < len(ratios) < 60
    with pytest.warns(UserWarning, match="times as wide as asked"):
        statistics.sweep_until(
            FIRST, "delivery_ratio", 1e-6, first=3, most=4, set=settings, out=scratch / "wide", progress=False
        )
    with pytest.raises(wayhop.InputError):
        statistics.sweep_until(FIRST, "delivery_ratio", 0.0)


def test_sensitivity_of_a_figure_that_is_known_exactly(scratch: Path) -> None:
    """The duration of a run is one parameter, and no other changes it."""
    arguments: dict[str, Any] = {"out": scratch / "morris", "progress": False}
    bounds = {"nodes.count": (5, 9), "duration_s": (1.0, 3.0)}
    effects = statistics.morris(FIRST, bounds, "simulated_s", trajectories=4, **arguments)
    assert effects["parameter"].to_list() == ["duration_s", "nodes.count"]
    assert effects["mu"].to_list() == pytest.approx([2.0, 0.0]) and effects[
        "sigma"
    ].to_list() == pytest.approx([0, 0])
    arguments["out"] = scratch / "sobol"
    indices = statistics.sobol(FIRST, bounds, "simulated_s", samples=64, **arguments)
    assert indices["parameter"].to_list() == ["duration_s", "nodes.count"]
    assert indices["total"].to_list() == pytest.approx([1.0, 0.0], abs=0.1)


def test_sobol_indices_of_the_ishigami_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a = 7, b = 0.1 the indices are known (Ishigami and Homma 1990)."""

    def ishigami(_method: object, _scenario: object, _bounds: object, points: Any, *_: object) -> Any:
        x, y, z = points.T
        return numpy.sin(x) + 7 * numpy.sin(y) ** 2 + 0.1 * z**4 * numpy.sin(x)

    monkeypatch.setattr(sensitivity, "_simulate", ishigami)
    bounds = dict.fromkeys(("x", "y", "z"), (-math.pi, math.pi))
    found = {
        row["parameter"]: row
        for row in statistics.sobol(FIRST, bounds, "f", samples=4096).iter_rows(named=True)
    }
    for name, first, total in (("x", 0.3139, 0.5576), ("y", 0.4424, 0.4424), ("z", 0.0, 0.2437)):
        assert (found[name]["first"], found[name]["total"]) == pytest.approx((first, total), abs=0.02)


@pytest.mark.parametrize("bounds", [{"duration_s": (1, 2)}, {"duration_s": (2, 1), "nodes.count": (5, 9)}])
def test_bounds_without_a_range_are_refused(bounds: Any) -> None:
    with pytest.raises(wayhop.InputError, match="bounds"):
        statistics.morris(FIRST, bounds, "delivery_ratio")
    with pytest.raises(wayhop.InputError, match="power of 2"):
        statistics.sobol(FIRST, bounds, "delivery_ratio", samples=10)
