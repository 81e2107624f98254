"""Sweeps: run one, or read one that is there; means and differences with their intervals."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _command, _html, _values
from .errors import refuse
from .runs import Run, saved
from .scenarios import Scenario, scenario_file

if TYPE_CHECKING:
    import polars

_COUNTED = ("by_type", "drops", "dropped")
"""Parts of a summary in which a name that is absent did not occur."""


@dataclass(frozen=True)
class SweepRun:
    """One finished run of a sweep."""

    id: str
    """Its identity: all that its result depends on."""
    at: dict[str, str]
    """Its value on each axis."""
    seed: int
    """Its seed."""
    summary: dict[str, Any]
    """Its summary, as `wayhop run --json` prints it."""

    def figure(self, path: str) -> float | None:
        """A figure by its path; ``totals.`` may be left out. None if it is undefined.

        A message type or a drop reason that did not occur counts as 0.
        """
        found = _find(self.summary, path)
        return 0.0 if found is _NEVER else found


_NEVER = -1.0
"""Stands for a count that the summary does not list. Compared by identity."""


def _find(summary: Mapping[str, Any], path: str) -> float | None:
    steps = path.split(".")
    if steps[0] not in summary:
        steps = ["totals", *steps]
    value: Any = summary
    for before, step in zip(["", *steps], steps, strict=False):
        found = _values.inside(value, step)
        if found is _values.ABSENT and isinstance(value, Mapping) and before in _COUNTED:
            return _NEVER
        if found is _values.ABSENT:
            raise KeyError(path)
        value = found
    if isinstance(value, (bool, str, list, Mapping)):
        raise KeyError(path)
    return None if value is None else float(value)


class Sweep:
    """The folder of a sweep: its plan, and the summaries of its finished runs."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        import tomlkit

        self.directory = Path(directory)
        """The folder."""
        identity = self.directory / "sweep.json"
        if not identity.is_file():
            what = f"{self.directory} is not the folder of a sweep: it has no sweep.json"
            raise refuse(what, "give the folder that `wayhop sweep` prints as `saved in`", file=str(identity))
        found = json.loads(identity.read_text(encoding="utf-8"))
        self.plan: dict[str, Any] = tomlkit.parse(
            (self.directory / "plan.toml").read_text(encoding="utf-8")
        ).unwrap()
        """The plan with all changes from the command line."""
        self.axes: tuple[str, ...] = tuple(found["axes"])
        """The names of the axes, in the plan's order."""
        axes = {axis["name"]: axis for axis in self.plan.get("axis", [])}
        self.replicates: tuple[str, ...] = tuple(a for a in self.axes if axes.get(a, {}).get("replicate"))
        """Axes whose values are repetitions of the same experiment, such as mobility patterns."""
        self.planned: int = len(found["runs"])
        """Number of runs of the plan."""
        labels = {
            id_: dict(zip(self.axes, at, strict=True))
            for id_, at in zip(found["runs"], found["labels"], strict=True)
        }
        self._cells = list(labels.values())
        done = {line["id"]: line for line in _lines(self.directory / "runs.jsonl") if line["id"] in labels}
        self.runs: list[SweepRun] = [
            SweepRun(id_, at, int(done[id_]["run"]["seed"]), done[id_]["summary"])
            for id_, at in labels.items()
            if id_ in done
        ]
        """The finished runs, in the plan's order."""

    @property
    def metrics(self) -> list[str]:
        """The plan's figures."""
        return list(self.plan["metrics"])

    def directories(self) -> list[Run]:
        """The runs' own directories, of a sweep with tables."""
        return [Run(path.parent) for path in sorted(self.directory.glob("runs/*/manifest.json"))]

    def frame(self, figures: Sequence[str] | None = None) -> polars.DataFrame:
        """A row per run: its axes, its seed, and its figures; undefined ones are null.

        Default: all totals. Units: docs/reference/json.md.
        """
        import polars

        if figures is None:
            names = dict.fromkeys(
                name
                for run in self.runs
                for name, value in _values.flat(run.summary["totals"]).items()
                if not isinstance(value, (str, bool))
            )
            figures = [*names, "simulated_s", "events"]
        self._known(figures)
        rows = [
            {**run.at, "seed": run.seed, **{name: self._value(run, name) for name in figures}}
            for run in self.runs
        ]
        schema: dict[str, Any] = dict.fromkeys(self.axes, polars.String)
        schema |= {"seed": polars.Int64} | dict.fromkeys(figures, polars.Float64)
        return polars.DataFrame(rows, schema=schema)

    def mean(
        self,
        figure: str,
        by: Sequence[str] | None = None,
        *,
        only: Mapping[str, object] | None = None,
    ) -> polars.DataFrame:
        """Means of a figure with 95 % intervals (Student's t), a row per combination of values.

        They are those of the command's table.csv: over the seeds; or, with axes that are repetitions, over
        the means of each repetition. Undefined figures are left out: ``runs_with_figure`` of ``runs``
        have one. The interval of a single value is null.

        Args:
            figure: The figure, such as ``"delivery_ratio"`` or ``"latency_ms.p95"``.
            by: Axes of the rows. Default: all but repetitions. Another axis must have one value in ``only``.
            only: Values of axes: ``{"speed": "up to 2 m/s"}``.
        """
        import polars

        from .statistics.intervals import mean_interval

        names = self._rows(by)
        runs = self._select(only)
        self._same(runs, names)
        self._known([figure])
        repeated = [axis for axis in self.replicates if axis not in names]
        rows = []
        for cell, group in _grouped(runs, names).items():
            values = [v for v in self._repetitions(group, figure, repeated).values() if v is not None]
            rows.append(
                dict(zip(names, cell, strict=True))
                | _interval(mean_interval(values) if values else None)
                | {
                    "values": len(values),
                    "runs_with_figure": sum(self._value(run, figure) is not None for run in group),
                    "runs": len(group),
                }
            )
        return polars.DataFrame(rows, schema=_schema(names, ("values", "runs_with_figure", "runs")))

    def means(self) -> polars.DataFrame:
        """The means of all figures of the plan: the command's table.csv."""
        import polars

        tables = []
        for metric in self.metrics:
            found = self.mean(metric)
            names = found.columns[: found.width - 6]
            tables.append(
                found.select(*names, polars.lit(metric).alias("metric"), *found.columns[len(names) :])
            )
        return polars.concat(tables)

    def differences(
        self, figure: str, compare: str | None = None, *, only: Mapping[str, object] | None = None
    ) -> polars.DataFrame:
        """Paired differences to the first value of an axis: the command's differences.csv, with p values.

        Pairs have the same seed and the same values on all other axes. ``p_value`` is of the two-sided
        paired t test, and ``p_holm`` is adjusted for the number of rows by Holm's method.

        Args:
            figure: The figure, such as ``"delivery_ratio"``.
            compare: The axis. Default: the plan's ``compare``, or its first that is not a repetition.
            only: Values of axes: ``{"speed": "up to 2 m/s"}``.
        """
        import polars

        from .statistics.intervals import holm, paired_interval

        shown = [axis for axis in self.axes if axis not in self.replicates]
        axis = compare or self.plan.get("compare") or (shown[0] if shown else None)
        if axis not in shown:
            raise refuse(f"compare: there is no axis {axis}", f"use one of {', '.join(shown)}", key="compare")
        self._known([figure])
        runs = self._select(only)
        wanted = (only or {}).items()
        first = next(at[axis] for at in self._cells if all(at[name] == str(value) for name, value in wanted))
        cells = {
            cell: self._repetitions(group, figure, self.replicates)
            for cell, group in _grouped(runs, shown).items()
        }
        rows, p_values = [], []
        for cell, ours in cells.items():
            at = dict(zip(shown, cell, strict=True))
            theirs = cells.get(tuple((at | {axis: first}).values()))
            if at[axis] == first or theirs is None:
                continue
            pairs = [(value, theirs[r]) for r, value in ours.items() if r in theirs]
            known = [(a, b) for a, b in pairs if a is not None and b is not None]
            found = paired_interval([a for a, _ in known], [b for _, b in known]) if known else None
            p_values.append(found.p_value if found else None)
            counts = {"values": len(known), "pairs_with_figure": len(known), "pairs": len(pairs)}
            rows.append(at | {"against": first} | _interval(found) | counts)
        corrected = iter(holm([p for p in p_values if p is not None]))
        adjusted = [None if p is None else next(corrected) for p in p_values]
        schema = _schema([*shown, "against"], ("values", "pairs_with_figure", "pairs"))
        frame = polars.DataFrame(rows, schema=schema)
        return frame.with_columns(
            polars.Series("p_value", p_values, polars.Float64),
            polars.Series("p_holm", adjusted, polars.Float64),
        )

    def __repr__(self) -> str:
        return f"Sweep({str(self.directory)!r}, {len(self.runs)} of {self.planned} runs)"

    def _repr_html_(self) -> str:
        return _html.of_sweep(self)

    def _rows(self, by: Sequence[str] | None) -> list[str]:
        names = [axis for axis in self.axes if axis not in self.replicates] if by is None else list(by)
        for name in names:
            if name not in self.axes:
                raise refuse(
                    f"by: there is no axis {name}", f"use {', '.join(self.axes) or 'by=[]'}", key="by"
                )
        return names

    def _repetitions(
        self, runs: Iterable[SweepRun], figure: str, repeated: Sequence[str]
    ) -> dict[tuple[object, ...], float | None]:
        """The independent values: each seed's; or with axes that are repetitions, each one's mean over its seeds."""
        groups: dict[tuple[object, ...], list[float]] = {}
        for run in runs:
            key = tuple(run.at[axis] for axis in repeated) if repeated else (run.seed,)
            value = self._value(run, figure)
            groups.setdefault(key, []).extend([] if value is None else [value])
        return {key: sum(group) / len(group) if group else None for key, group in groups.items()}

    def _select(self, only: Mapping[str, object] | None) -> list[SweepRun]:
        wanted = {name: str(value) for name, value in (only or {}).items()}
        for name, value in wanted.items():
            values = list(dict.fromkeys(run.at[name] for run in self.runs)) if name in self.axes else []
            if value not in values:
                what = f"only: no run has {name} = {value}"
                raise refuse(what, f"use one of {', '.join(values or self.axes)}", key="only")
        return [run for run in self.runs if all(run.at[name] == value for name, value in wanted.items())]

    def _same(self, runs: Sequence[SweepRun], names: Sequence[str]) -> None:
        """Refuses a mean over runs that differ in more than their repetition."""
        for axis in self.axes:
            values = dict.fromkeys(run.at[axis] for run in runs)
            if axis not in names and axis not in self.replicates and len(values) > 1:
                what = f"by: the runs differ in {axis}, too ({', '.join(values)})"
                raise refuse(what, f"add {axis} to by, or select a value: only={{{axis!r}: ...}}", key="by")

    def _known(self, figures: Iterable[str]) -> None:
        """Refuses a figure that no run has. The command knows which counts may be 0 in all runs: those of its plan are."""
        planned = {metric.removeprefix("totals.") for metric in self.metrics}
        for figure in figures:
            found = [_find(run.summary, figure) for run in self.runs if _has(run, figure)]
            if not self.runs or any(value is not _NEVER for value in found):
                continue
            if found and figure.removeprefix("totals.") in planned:
                continue
            names = sorted(_values.flat(self.runs[0].summary["totals"]))
            close = [name for name in names if figure.split(".")[0] in name][:6]
            raise refuse(
                f"no run of {self.directory} has a figure {figure}",
                f"use one of {', '.join(close or names)}, or give it in metrics when you run the sweep",
                key=figure,
            )

    @staticmethod
    def _value(run: SweepRun, figure: str) -> float | None:
        return run.figure(figure) if _has(run, figure) else None


def _has(run: SweepRun, figure: str) -> bool:
    try:
        run.figure(figure)
    except KeyError:
        return False
    return True


def _grouped(runs: Iterable[SweepRun], names: Sequence[str]) -> dict[tuple[str, ...], list[SweepRun]]:
    out: dict[tuple[str, ...], list[SweepRun]] = {}
    for run in runs:
        out.setdefault(tuple(run.at[name] for name in names), []).append(run)
    return out


def _interval(found: Any) -> dict[str, float | None]:
    if found is None:
        return {"mean": None, "ci95_low": None, "ci95_high": None}
    return {"mean": found.mean, "ci95_low": found.low, "ci95_high": found.high}


def _schema(names: Sequence[str], counts: Sequence[str]) -> dict[str, Any]:
    import polars

    schema: dict[str, Any] = dict.fromkeys(names, polars.String)
    schema |= dict.fromkeys(("mean", "ci95_low", "ci95_high"), polars.Float64)
    return schema | dict.fromkeys(counts, polars.Int64)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a JSON Lines file; a killed sweep may leave part of one at the end."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n"):
                return
            try:
                yield json.loads(line)
            except ValueError as e:
                what = f"{path}:{number}: not a line of JSON: {e}"
                raise refuse(
                    what, "remove the line, and run the sweep again to repeat its run", file=str(path)
                ) from e


def load_sweep(directory: str | os.PathLike[str]) -> Sweep:
    """Reads the results in the folder of a sweep, finished or not."""
    return Sweep(directory)


def sweep(
    plan: str | os.PathLike[str] | Scenario,
    *,
    seeds: _values.Seeds | None = None,
    vary: Mapping[str, Iterable[object]] | None = None,
    set: Mapping[str, object] | None = None,
    metrics: Sequence[str] | None = None,
    tables: bool = False,
    captures: bool = False,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    executor: object | None = None,
    progress: bool = True,
) -> Sweep:
    """Runs a scenario with every combination of values; finished runs in the folder are kept.

    Args:
        plan: A plan, or a scenario with ``vary`` or ``seeds``.
        seeds: Number of seeds (10 means seeds 1 to 10), a range, or a list.
        vary: Axes: ``{"protocol.name": ["dsr", "aodv"], "nodes.count": [20, 50]}``.
        set: Keys of the scenario to set in all runs.
        metrics: Figures for table.csv and `Sweep.means`; `Sweep.mean` knows all figures in any case.
        tables: Write a run directory with tables for each run.
        captures: Write a capture of each node as well.
        out: Folder for the results. Default: runs/sweep-NAME.
        jobs: Number of runs at a time. Default: the number of processors.
        executor: Run on other machines: an object with the interface of ``concurrent.futures.Executor``.
        progress: Show a progress bar.

    Raises:
        InputError: The plan or a value is invalid; its attributes name file, line, key and remedy.
        KeyboardInterrupt: After Ctrl-C; call it again with the same arguments to resume.
    """
    options = _command.arguments_of(
        seeds=_values.seeds(seeds),
        vary=_values.axes(vary),
        set=_values.assignments(set),
        metric=list(metrics or ()),
        tables=tables,
        captures=captures,
        out=out,
        jobs=jobs,
    )
    with scenario_file(plan) as path:
        arguments = [str(path), *options]
        if executor is not None:
            return Sweep(importlib.import_module("wayhop.cluster").run(arguments, executor))
        text = _command.call(["sweep", *arguments], label=path.stem, progress=progress)
    return Sweep(saved(text))
