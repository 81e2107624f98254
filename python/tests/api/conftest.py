"""What the tests of the package share. `python/test` installs the package and the command, and runs them."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib
import pytest

import wayhop

matplotlib.use("Agg")
ROOT = Path(__file__).resolve().parents[3]
FIRST = ROOT / "scenarios/first.toml"
SHORT = {"duration_s": 30, "radio.tx_power_dbm": 15}
"""A short run that loses packets."""


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wayhop")
    os.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def recorded(scratch: Path) -> wayhop.Run:
    """A run with everything that can be recorded."""
    return wayhop.run(
        FIRST, seed=3, set=SHORT, out=scratch / "recorded", captures=True, receptions=True, progress=False
    )


PLAN = """
scenario = "{scenario}"
seeds = {{ first = 1, count = 5 }}
set = {{ duration_s = 15, nodes.count = 20 }}
metrics = ["totals.delivery_ratio", "totals.latency_ms.mean", "totals.drops.NO_ROUTE", "flows.0.sent"]
[[axis]]
name = "protocol"
key = "protocol.name"
values = ["dsr", "aodv", "none"]
[[axis]]
name = "nodes"
key = "nodes.count"
values = [12, 20]
replicate = {replicate}
"""


def planned(scratch: Path, name: str, replicate: str) -> wayhop.Sweep:
    plan = scratch / f"{name}.toml"
    plan.write_text(PLAN.format(scenario=FIRST, replicate=replicate))
    return wayhop.sweep(plan, out=scratch / name, progress=False)


@pytest.fixture(scope="session")
def swept(scratch: Path) -> wayhop.Sweep:
    """A sweep in which a figure is undefined in some cells: without a protocol few packets arrive."""
    return planned(scratch, "swept", "false")


@pytest.fixture(scope="session")
def repeated(scratch: Path) -> wayhop.Sweep:
    """The same with an axis whose values are repetitions."""
    return planned(scratch, "repeated", "true")
