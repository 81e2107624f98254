"""Which parameters matter: Morris' elementary effects and Sobol indices, by SALib."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _values
from ..errors import missing, refuse

if TYPE_CHECKING:
    import polars

Bounds = Mapping[str, tuple[float, float]]
"""Keys of the scenario with their lowest and highest values; two whole numbers give whole numbers."""


def morris(
    scenario: str | os.PathLike[str],
    bounds: Bounds,
    figure: str,
    *,
    trajectories: int = 10,
    levels: int = 4,
    seeds: _values.Seeds = 1,
    sample_seed: int = 1,
    set: Mapping[str, object] | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = True,
) -> polars.DataFrame:
    """Screens parameters by Morris' method (1991) with ``trajectories * (len(bounds) + 1)`` points.

    Returns a row per parameter, the most important first: ``mu`` (mean elementary effect over the whole
    range, in the figure's unit), ``mu_star`` (mean of absolute values), ``mu_star_ci95`` (half width of its
    95 % interval, by bootstrap) and ``sigma`` (large if the effect is not linear or depends on other
    parameters). The same seeds are used at each point, and the mean over them is analysed.

    Args:
        scenario: Scenario file.
        bounds: Parameters: ``{"radio.tx_power_dbm": (5, 20), "nodes.count": (20, 80)}``.
        figure: The figure, such as ``"delivery_ratio"``.
        trajectories: Number of trajectories.
        levels: Number of values of each parameter.
        seeds: Seeds of each point.
        sample_seed: Seed of the sample of points.
        set: Keys to set in all runs.
        out: Folder for the results. Default: runs/morris-SCENARIO.
        jobs: Number of runs at a time.
        progress: Show a progress bar.
    """
    try:
        from SALib.analyze import morris as analyse
        from SALib.sample import morris as sample
    except ImportError:
        raise missing("SALib", "sensitivity") from None
    problem = _problem(bounds)
    points = sample.sample(problem, trajectories, num_levels=levels, seed=sample_seed)
    found = _simulate("morris", scenario, bounds, points, figure, seeds, set, out, jobs, progress)
    effects = analyse.analyze(problem, points, found, num_levels=levels, seed=sample_seed)
    columns = {"mu": "mu", "mu_star": "mu_star", "mu_star_ci95": "mu_star_conf", "sigma": "sigma"}
    return _frame(problem, effects, columns, "mu_star")


def sobol(
    scenario: str | os.PathLike[str],
    bounds: Bounds,
    figure: str,
    *,
    samples: int = 64,
    seeds: _values.Seeds = 1,
    sample_seed: int = 1,
    set: Mapping[str, object] | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = True,
) -> polars.DataFrame:
    """Sobol indices of first and total order (Saltelli 2010) with ``samples * (len(bounds) + 2)`` points.

    Returns a row per parameter, the most important first: ``first`` (share of the figure's variance that
    the parameter explains alone), ``total`` (with all its interactions), and ``first_ci95``, ``total_ci95``
    (half widths of their 95 % intervals, by bootstrap). Indices with intervals as wide as themselves need
    more ``samples``, a power of 2. Other arguments: as for `morris`; ``out`` is runs/sobol-SCENARIO.
    """
    try:
        from SALib.analyze import sobol as analyse
        from SALib.sample import sobol as sample
    except ImportError:
        raise missing("SALib", "sensitivity") from None
    if samples < 2 or samples & (samples - 1):
        raise refuse(f"samples: {samples} is not a power of 2", "give 64, 128, 256, ...", key="samples")
    problem = _problem(bounds)
    points = sample.sample(problem, samples, calc_second_order=False, seed=sample_seed)
    found = _simulate("sobol", scenario, bounds, points, figure, seeds, set, out, jobs, progress)
    if found.std() == 0:
        raise refuse(f"{figure} is the same at all points", "vary other parameters", key=figure)
    indices = analyse.analyze(problem, found, calc_second_order=False, seed=sample_seed)
    columns = {"first": "S1", "first_ci95": "S1_conf", "total": "ST", "total_ci95": "ST_conf"}
    return _frame(problem, indices, columns, "total")


def _problem(bounds: Bounds) -> dict[str, Any]:
    for key, (low, high) in bounds.items():
        if not low < high:
            raise refuse(
                f"bounds: {key} has no range from {low} to {high}", "give (lowest, highest)", key=key
            )
    if len(bounds) < 2:
        raise refuse(
            "bounds: sensitivity needs two or more parameters", "use wayhop.sweep for one", key="bounds"
        )
    return {
        "num_vars": len(bounds),
        "names": list(bounds),
        "bounds": [list(ends) for ends in bounds.values()],
    }


def _value(x: float, ends: Sequence[float]) -> float:
    return round(x) if all(isinstance(end, int) for end in ends) else float(x)


def _simulate(
    method: str,
    scenario: str | os.PathLike[str],
    bounds: Bounds,
    points: Any,
    figure: str,
    seeds: _values.Seeds,
    set: Mapping[str, object] | None,
    out: str | os.PathLike[str] | None,
    jobs: int | None,
    progress: bool,
) -> Any:
    """The mean of the figure at each point, from one sweep; points that are the same run once."""
    import numpy

    from ..sweeps import sweep

    keys = list(bounds)
    each = [tuple(_value(x, bounds[k]) for k, x in zip(keys, point, strict=True)) for point in points]
    labels = {point: str(n) for n, point in enumerate(dict.fromkeys(each))}
    name = f"{method}-{Path(scenario).stem}"
    lines = [
        f"name = {_values.toml(name, 'name')}",
        f"scenario = {_values.toml(str(Path(scenario).absolute()), 'scenario')}",
        "[[axis]]",
        'name = "point"',
        "set = [",
    ]
    for point, label in labels.items():
        settings = ", ".join(f"{k} = {_values.toml(v, k)}" for k, v in zip(keys, point, strict=True))
        lines.append(f'  {{ label = "{label}", set = {{ {settings} }} }},')
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / f"{name}.toml"
        plan.write_text("\n".join([*lines, "]", ""]), encoding="utf-8")
        done = sweep(
            plan,
            seeds=seeds,
            set=set,
            metrics=[figure],
            out=out or Path("runs") / name,
            jobs=jobs,
            progress=progress,
        )
    means = {row["point"]: row["mean"] for row in done.mean(figure).iter_rows(named=True)}
    undefined = sum(value is None for value in means.values())
    if undefined:
        what = f"{figure} is undefined at {undefined} of {len(means)} points"
        raise refuse(what, "choose a figure that always exists, such as delivery_ratio", key=figure)
    return numpy.array([means[labels[point]] for point in each])


def _frame(
    problem: dict[str, Any], found: Mapping[str, Any], columns: dict[str, str], order: str
) -> polars.DataFrame:
    import polars

    data: dict[str, Any] = {"parameter": problem["names"]}
    data |= {ours: [float(value) for value in found[theirs]] for ours, theirs in columns.items()}
    return polars.DataFrame(data).sort(order, descending=True)
