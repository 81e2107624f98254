"""Scenarios that are changed and saved."""

from __future__ import annotations

from pathlib import Path

import pytest

import wayhop

TEXT = """\
# A comment before.
duration_s = 10  # in seconds
area = { x_m = 1500, y_m = 300 }

[radio]
preset = "80211b"   # a preset

[[traffic]]
kind = "cbr"
rate_pps = 4  # packets a second
"""


def test_a_change_keeps_everything_else(tmp_path: Path) -> None:
    scenario = wayhop.Scenario(TEXT)
    scenario["duration_s"] = 20
    scenario["traffic.0.rate_pps"] = 8
    scenario["radio.tx_power_dbm"] = 15
    path = scenario.save(tmp_path / "s.toml")
    expected = TEXT.replace("10  #", "20  #").replace("= 4  #", "= 8  #")
    expected = expected.replace("# a preset\n", "# a preset\ntx_power_dbm = 15\n")
    assert path.read_text() == expected
    assert wayhop.Scenario.load(path)["traffic.0"] == {"kind": "cbr", "rate_pps": 8}
    del scenario["radio.tx_power_dbm"]
    assert "radio.tx_power_dbm" not in scenario and "radio.preset" in scenario


def test_new_tables_are_made_and_impossible_keys_are_refused() -> None:
    scenario = wayhop.Scenario(TEXT)
    scenario["protocol.name"] = "dsr"
    assert scenario.text().endswith('[protocol]\nname = "dsr"\n')
    for key in ("traffic.7.rate_pps", "duration_s.x", "traffic.x"):
        with pytest.raises(KeyError, match=key):
            scenario[key] = 1
    with pytest.raises(KeyError, match="nodes.count"):
        scenario["nodes.count"]


def test_what_is_not_toml_and_what_is_not_there_are_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("a = 1\nb = = 2\n")
    with pytest.raises(wayhop.InputError) as caught:
        wayhop.Scenario.load(path)
    assert (caught.value.file, caught.value.line) == (str(path), 2)
    with pytest.raises(wayhop.InputError, match="cannot read"):
        wayhop.Scenario.load(tmp_path / "none.toml")
    with pytest.raises(wayhop.InputError, match="has no file"):
        wayhop.Scenario(TEXT).save()
    lost = wayhop.Scenario(TEXT, tmp_path / "gone/s.toml")
    for use in (lost.save, lambda: wayhop.run(lost)):
        with pytest.raises(wayhop.InputError, match="cannot write") as caught:
            use()
        assert caught.value.remedy == "check that its folder exists and is writable"
