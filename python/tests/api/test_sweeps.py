"""Sweeps: means and differences equal the command's tables and scipy's intervals."""

from __future__ import annotations

import csv
import json
import math
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import FIRST
from scipy import stats

import wayhop
from wayhop import _values


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def agree(ours: dict[str, Any], theirs: dict[str, str]) -> None:
    """A row of ours is a row of the command's table: equal text and counts, numbers within rounding."""
    for name, text in theirs.items():
        value = ours[name]
        if text == "" or value is None:
            assert text == "" and value is None, name
        elif isinstance(value, str):
            assert value == text
        else:
            assert math.isclose(value, float(text), rel_tol=1e-9, abs_tol=1e-12), (name, value, text)


@pytest.mark.parametrize("which", ["swept", "repeated"])
def test_means_are_those_of_table_csv(which: str, request: pytest.FixtureRequest) -> None:
    sweep: wayhop.Sweep = request.getfixturevalue(which)
    table = rows_of(sweep.directory / "table.csv")
    assert any(row["mean"] == "" or row["values"] != row["runs"] for row in table)
    for row in table:
        cell = {name: row[name] for name in sweep.axes if name in row}
        ours = sweep.mean(row["metric"]).filter(**cell)
        agree({**ours.row(0, named=True), "metric": row["metric"]}, row)
    means = sweep.means().sort(pl.all())
    assert means.height == len(table)
    assert means.columns == list(table[0])


@pytest.mark.parametrize("which", ["swept", "repeated"])
def test_differences_are_those_of_differences_csv(which: str, request: pytest.FixtureRequest) -> None:
    sweep: wayhop.Sweep = request.getfixturevalue(which)
    table = rows_of(sweep.directory / "differences.csv")
    assert table
    for row in table:
        cell = {name: row[name] for name in sweep.axes if name in row}
        ours = sweep.differences(row["metric"]).filter(**cell)
        agree({**ours.row(0, named=True), "metric": row["metric"]}, row)


def test_intervals_and_p_values_are_those_of_scipy(swept: wayhop.Sweep) -> None:
    frame = swept.frame(["delivery_ratio"])
    assert frame.height == 30 and frame.columns == ["protocol", "nodes", "seed", "delivery_ratio"]

    def values(protocol: str) -> list[float]:
        return frame.filter(protocol=protocol, nodes="20").sort("seed")["delivery_ratio"].to_list()

    mean = swept.mean("delivery_ratio").filter(protocol="dsr", nodes="20").row(0, named=True)
    sample = values("dsr")
    low, high = stats.t.interval(0.95, 4, loc=sum(sample) / 5, scale=stats.sem(sample))
    assert (mean["ci95_low"], mean["ci95_high"]) == pytest.approx((low, high), rel=1e-9)
    found = swept.differences("delivery_ratio", only={"nodes": 20}).filter(protocol="aodv").row(0, named=True)
    test = stats.ttest_rel(values("aodv"), values("dsr"))
    assert found["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
    interval = test.confidence_interval()
    assert (found["ci95_low"], found["ci95_high"]) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_runs_that_differ_otherwise_are_not_averaged(swept: wayhop.Sweep, repeated: wayhop.Sweep) -> None:
    with pytest.raises(wayhop.InputError, match="differ in nodes, too") as caught:
        swept.mean("delivery_ratio", by=["protocol"])
    assert caught.value.key == "by"
    assert swept.mean("delivery_ratio", by=["protocol"], only={"nodes": 12}).height == 3
    assert repeated.mean("delivery_ratio", by=["protocol"]).height == 3
    assert repeated.mean("delivery_ratio")["values"].to_list() == [2, 2, 2]
    assert repeated.mean("delivery_ratio", by=["protocol", "nodes"])["values"].to_list() == [5] * 6
    with pytest.raises(wayhop.InputError, match="no axis speed"):
        swept.mean("delivery_ratio", by=["speed"])
    with pytest.raises(wayhop.InputError, match="no run has nodes = 13"):
        swept.mean("delivery_ratio", only={"nodes": 13})
    with pytest.raises(wayhop.InputError, match="use one of delivery_ratio"):
        swept.mean("delivery")
    with pytest.raises(wayhop.InputError, match="give it in metrics when you run the sweep"):
        swept.mean("drops.NO_ROUT")


def test_what_did_not_occur_is_0_and_what_is_undefined_is_null(swept: wayhop.Sweep) -> None:
    frame = swept.frame(["drops.NO_ROUTE", "latency_ms.mean", "received"])
    assert frame["drops.NO_ROUTE"].null_count() == 0
    assert frame.filter(pl.col("received") == 0)["latency_ms.mean"].null_count() > 0
    assert frame.filter(pl.col("received") > 0)["latency_ms.mean"].null_count() == 0


def test_an_unfinished_sweep_can_be_read_and_is_resumed(swept: wayhop.Sweep, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(swept.directory, folder)
    lines = (folder / "runs.jsonl").read_text().splitlines(keepends=True)
    foreign = json.dumps({**json.loads(lines[0]), "id": "of another plan"}) + "\n"
    (folder / "runs.jsonl").write_text(foreign + "".join(lines[:7]) + lines[7][:100])
    cut = wayhop.sweeps.load_sweep(folder)
    assert (len(cut.runs), cut.planned) == (7, 30)
    assert f"{folder}: 7 of 30 runs" in cut._repr_html_()
    (folder / "runs.jsonl").write_text("{}{\n" + lines[0])
    with pytest.raises(wayhop.InputError, match=r"runs\.jsonl:1: not a line of JSON"):
        wayhop.load_sweep(folder)
    with pytest.raises(wayhop.InputError, match="not the folder of a sweep"):
        wayhop.load_sweep(tmp_path)


def test_axes_seeds_and_settings_reach_the_command(scratch: Path) -> None:
    scenario = wayhop.Scenario.load(FIRST)
    scenario["duration_s"] = 5
    scenario.path = scratch / "mine.toml"
    arguments: dict[str, Any] = {
        "seeds": [2, 5],
        "vary": {"protocol.name": ["dsr", "aodv"]},
        "progress": False,
    }
    sweep = wayhop.sweep(scenario, **arguments, set={"nodes.count": 15}, tables=True, out=scratch / "mine")
    assert [(run.at["protocol.name"], run.seed) for run in sweep.runs] == [
        ("dsr", 2),
        ("dsr", 5),
        ("aodv", 2),
        ("aodv", 5),
    ]
    tables = sweep.directories()
    assert {run.summary.seed for run in tables} == {2, 5} and len(tables) == 4
    again = wayhop.sweep(scenario, **arguments, set={"nodes.count": 15}, tables=True, out=scratch / "mine")
    assert again.planned == 4


@pytest.mark.parametrize(
    ("given", "argument"),
    [(10, "1..10"), (1, "1..1"), (range(3, 13), "3..12"), ([1, 4, 9], "1,4,9"), ([7], "7..7"), (None, None)],
)
def test_seeds_as_an_argument(given: Any, argument: str | None) -> None:
    assert _values.seeds(given) == argument


def test_values_as_toml() -> None:
    found = _values.assignments({"a": True, "b": 1.5, "c": 'x"y', "d": [1, {"e f": "g"}]})
    assert found == ["a=true", "b=1.5", 'c="x\\"y"', 'd=[1, {"e f" = "g"}]']
    assert _values.axes({"k": ["a,b", 2]}) == ['k="a,b",2']
    for wrong in ({"k": "dsr"}, {"k": []}):
        with pytest.raises(wayhop.InputError):
            _values.axes(wrong)
    for wrong_seeds in (0, [], [-1]):
        with pytest.raises(wayhop.InputError):
            _values.seeds(wrong_seeds)


def test_an_executor_gets_the_arguments_of_the_command(
    swept: wayhop.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys
    import types

    calls: list[tuple[list[str], object]] = []
    module = types.ModuleType("wayhop.cluster")

    def run(arguments: list[str], executor: object) -> Path:
        calls.append((arguments, executor))
        return swept.directory

    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wayhop.cluster", module)
    workers = object()
    assert wayhop.sweep("plan.toml", seeds=3, executor=workers).planned == 30
    assert calls == [(["plan.toml", "--seeds", "1..3"], workers)]
