"""Runs, their summaries and their tables."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import polars as pl
import pytest
from conftest import FIRST, ROOT, SHORT

import wayhop
from wayhop import _command
from wayhop.summary import Summary, Totals


def test_generated_files_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "python")
    for name, text in (("summary_types", "source"), ("reference", "page")):
        module = importlib.import_module(name)
        assert module.TARGET.read_text() == getattr(module, text)(), f"run python3 python/{name}.py"


def test_several_threads_simulate_the_same_run(scratch: Path) -> None:
    wide = scratch / "wide.toml"
    wide.write_text(
        "duration_s = 0.2\nnodes.count = 4200\narea = { x_m = 12000, y_m = 3000 }\n"
        'movement = { kind = "random-waypoint", speed_max_mps = 20 }\n'
        'protocol = { name = "aodv", hello = "always" }\n'
    )
    runs = [wayhop.run(wide, out=scratch / f"threads-{n}", threads=n, progress=False) for n in (1, 2)]
    assert runs[0].summary.trace_hash == runs[1].summary.trace_hash


def test_every_figure_of_a_summary_is_an_attribute(recorded: wayhop.Run) -> None:
    data = json.loads((recorded.directory / "summary.json").read_text())
    assert recorded.summary.as_dict() == data
    assert recorded.summary.seed == 3 and recorded.summary.simulated_s == 30
    for name, value in data["totals"].items():
        ours = getattr(recorded.summary.totals, name)
        assert (ours.as_dict() if hasattr(ours, "as_dict") else ours) == value
    assert [flow.sent for flow in recorded.summary.flows] == [flow["sent"] for flow in data["flows"]]
    assert recorded.summary["flows.0.latency_ms.p95"] == data["flows"][0]["latency_ms"]["p95"]
    with pytest.raises(KeyError, match="no figure totals.nothing"):
        recorded.summary["totals.nothing"]


def test_an_undefined_figure_is_none_and_never_0() -> None:
    totals = Totals({"sent": 3, "received": 0, "latency_ms": None})
    assert totals.latency_ms is None and totals.hops_mean is None and totals["latency_ms.p95"] is None
    assert (totals.received, totals.drops) == (0, {})
    summary = Summary({"seed": 1, "a_key_of_a_newer_version": 7})
    assert summary.bundles is None and summary.flows == [] and summary["a_key_of_a_newer_version"] == 7


@pytest.mark.parametrize("seconds", [2.2, 3.1, 4.7])
def test_a_killed_run_is_the_beginning_of_the_same_run(scratch: Path, seconds: float) -> None:
    # Twenty simulated seconds a second: it is killed long before its end.
    changes = ["--seed", "3", "--set", "duration_s=200", "--set", "radio.tx_power_dbm=15"]
    out = scratch / f"killed-{seconds}"
    command = [str(_command.path()), "run", str(FIRST), *changes, "--out", str(out), "--quiet"]
    child = subprocess.Popen([*command, "--pace", "20"])
    while not (out / "tables.checkpoint").exists():
        assert child.poll() is None
        time.sleep(0.01)
    time.sleep(seconds)
    child.kill()
    child.wait()
    killed = wayhop.load(out)
    whole = wayhop.run(FIRST, seed=3, set=SHORT | {"duration_s": 200}, out=scratch / f"w{seconds}", progress=False)
    assert killed.status == "running"
    cut_off_s = killed.summary.cut_off_s
    assert cut_off_s is not None and 20 * (seconds - 2.2) < cut_off_s < 200
    for table in ("packets", "sends", "events", "sizes"):
        found, expected = killed.tables[table].collect(), whole.tables[table].collect()
        assert 0 < found.height < expected.height or seconds < 3
        assert found.equals(expected.head(found.height))
        assert killed.tables.arrow(table).num_rows == found.height
    assert killed.tables["outcomes"].collect()["nodes"].sum() == killed.summary.totals.sent
    assert killed.tables["flows"].collect().height == len(killed.summary.flows)


def test_tables_give_the_totals_of_the_summary_in_every_library(recorded: wayhop.Run) -> None:
    totals = recorded.summary.totals
    outcomes = recorded.tables["outcomes"].group_by("outcome").agg(pl.col("nodes").sum()).collect()
    assert dict(outcomes.iter_rows())["delivered"] == totals.received
    frame = recorded.tables.pandas("outcomes")
    assert frame[frame["outcome"] == "delivered"]["nodes"].sum() == totals.received
    arrow = recorded.tables.arrow("outcomes").to_pydict()
    assert (
        sum(n for n, o in zip(arrow["nodes"], arrow["outcome"], strict=True) if o == "delivered")
        == totals.received
    )
    relation = recorded.tables.duckdb("outcomes")
    assert relation.filter("outcome = 'delivered'").sum("nodes").fetchall() == [(totals.received,)]
    assert "packets" in recorded.tables and recorded.tables.get("nothing") is None
    with pytest.raises(KeyError, match="has no table nothing; it has counters"):
        recorded.tables["nothing"]


def test_a_table_that_was_left_out_names_the_key(scratch: Path) -> None:
    changes = SHORT | {"output.tables": ["packets"]}
    run = wayhop.run(FIRST, set=changes, out=scratch / "part", progress=False)
    assert list(run.tables) == ["nodes", "packets"]
    assert run.summary.record is not None and "sizes" in run.summary.record.tables
    with pytest.raises(KeyError, match=r"has no table sizes, because output\.tables leaves it out"):
        run.tables["sizes"]


@pytest.mark.parametrize(
    ("library", "extra"), [("pandas", "pandas"), ("pyarrow", "arrow"), ("duckdb", "duckdb")]
)
def test_a_missing_library_names_its_extra(
    recorded: wayhop.Run, monkeypatch: pytest.MonkeyPatch, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(wayhop.MissingError) as caught:
        getattr(recorded.tables, extra)("flows")
    assert caught.value.remedy == f"pip install 'wayhop[{extra}]'"


def test_why_has_a_row_for_each_lost_packet(recorded: wayhop.Run) -> None:
    lost = recorded.why()
    totals = recorded.summary.totals
    assert lost.height == (totals.dropped or 0) + (totals.held or 0) > 0
    counts = dict(lost.filter(pl.col("outcome") == "dropped").group_by("reason").len().iter_rows())
    assert counts == totals.drops
    assert lost["path_existed"].dtype == pl.Boolean
    assert any(name.startswith("causes.") for name in lost.columns)


def test_signal_strengths_of_captures_are_those_of_the_tables_and_of_tshark(recorded: wayhop.Run) -> None:
    heard = wayhop.decode(recorded.captures["0"]).filter(~pl.col("sent"))
    messages = pl.col("class").is_in(["rreq", "rrep", "rerr"]) & (pl.col("destination") == "255.255.255.255")
    table = (
        recorded.tables["packets"]
        .filter(pl.col("node") == 0, pl.col("event") == "receive", messages)
        .collect()
    )
    broadcast = heard.filter(pl.col("dst") == "255.255.255.255").unique("frame", maintain_order=True)
    assert broadcast.height > 20
    # The table has the end of each frame, and the capture its start: neither changes their order.
    for exact, rounded in zip(table["signal_dbm"], broadcast["signal_dbm"], strict=True):
        assert abs(exact - rounded) <= 0.5 + 1e-6
    foreign = wayhop.decode(ROOT / "captures/link-types/ppi.pcap")
    # tshark -r ppi.pcap -T fields -e wlan_radio.signal_dbm: -50 in each of the 13 frames.
    assert foreign["signal_dbm"].to_list() == [-50] * 13


def test_the_same_seed_is_the_same_run_and_a_scenario_the_same_as_its_file(
    recorded: wayhop.Run, scratch: Path
) -> None:
    scenario = wayhop.Scenario.load(FIRST)
    for key, value in SHORT.items():
        scenario[key] = value
    folder = scratch / "copy"
    folder.mkdir()
    scenario.save(folder / "first.toml")
    again = wayhop.run(scenario, seed=3, out=scratch / "again", progress=False)
    assert again.summary.trace_hash == recorded.summary.trace_hash
    assert (again.summary.scenario, sorted(p.name for p in folder.iterdir())) == ("first", ["first.toml"])
    other = wayhop.run(FIRST, seed=4, set=SHORT, progress=False)
    assert other.summary.trace_hash != recorded.summary.trace_hash
    assert other.directory == Path("runs/first-dsr-4")


def test_a_page_shows_a_run_with_everything_escaped(recorded: wayhop.Run, scratch: Path) -> None:
    html = recorded._repr_html_()
    assert f"<td>received</td><td>{recorded.summary.totals.received:,}</td>" in html
    named = wayhop.run(FIRST, set={**SHORT, "name": "<b>&"}, out=scratch / "named", progress=False)
    assert "<b>" not in named._repr_html_() and "&lt;b&gt;&amp;" in named._repr_html_()


def test_what_is_not_a_run_and_a_damaged_checkpoint_are_refused(recorded: wayhop.Run, tmp_path: Path) -> None:
    with pytest.raises(wayhop.InputError, match="is not a run directory"):
        wayhop.load(tmp_path)
    killed = tmp_path / "killed"
    shutil.copytree(recorded.directory, killed)
    (killed / "tables.checkpoint").write_bytes(b"")
    (killed / "summary.json").unlink()
    run = wayhop.load(killed)
    with pytest.raises(wayhop.InputError, match="tables.checkpoint: not a checkpoint written by this version"):
        run.summary
    assert "no summary yet" in run._repr_html_()
    (killed / "manifest.json").write_text("{")
    with pytest.raises(wayhop.InputError, match="cannot read"):
        wayhop.load(killed)


def test_the_studio_serves_a_run_until_it_is_stopped(recorded: wayhop.Run, tmp_path: Path) -> None:
    studio = wayhop.studio(recorded)
    with urllib.request.urlopen(studio.url) as page:
        assert b"<title>" in page.read()
    assert re.search(rf'href="{re.escape(studio.url)}"', studio._repr_html_())
    studio.stop()
    with pytest.raises(OSError):
        urllib.request.urlopen(studio.url)
    with pytest.raises(wayhop.WayhopError):
        wayhop.studio(tmp_path / "nothing")


def test_the_command_is_not_changed_by_the_package() -> None:
    """A protocol in Python still runs, in an interpreter that has none of the new modules."""
    flooding = ROOT / "examples/python/flooding.py"
    run = wayhop.run(FIRST, protocol=str(flooding), duration_s=5, progress=False)
    assert run.status == "complete" and run.summary.totals.sent > 0
    assert (
        subprocess.run([sys.executable, "-c", "from wayhop import *; Protocol"], check=False).returncode == 0
    )
