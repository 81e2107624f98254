"""The Python on the pages of the documentation runs, in order, as a reader would type it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import FIRST, ROOT
from matplotlib import pyplot

import wayhop

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_code_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = wayhop.Scenario.load(FIRST)
    scenario["duration_s"] = 5
    scenario["traffic.0.start_max_s"] = 1
    scenario.save("first.toml")
    blocks = BLOCK.findall((ROOT / "docs/python.md").read_text(encoding="utf-8"))
    assert len(blocks) > 5
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    pyplot.close("all")
    assert names["run"].summary.seed == 3
    assert names["sweep"].planned == 20
