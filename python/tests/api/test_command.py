"""Finding the command, its errors, its progress, and interrupts."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import FIRST

import wayhop
from wayhop import _command
from wayhop.errors import Problem


def test_the_installed_package_runs_the_command_installed_with_it() -> None:
    assert "site-packages" in wayhop.__file__
    assert _command.path().parent == Path(sys.executable).parent
    assert _command.call(["--version"]).startswith("wayhop 0.")


def test_the_environment_names_another_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYHOP", sys.executable)
    assert _command.path() == Path(sys.executable)
    monkeypatch.setenv("WAYHOP", "/nonexistent/wayhop")
    with pytest.raises(wayhop.MissingError, match="WAYHOP=/nonexistent/wayhop is not a program") as caught:
        _command.path()
    assert caught.value.key == "WAYHOP"


def test_without_a_command_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_command.sysconfig, "get_path", lambda *_: str(tmp_path))
    with pytest.raises(wayhop.MissingError, match="pip install wayhop"):
        _command.path()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, wayhop; print([m for m in ('polars', 'scipy', 'matplotlib', 'tomlkit', 'tqdm') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize(
    ("text", "line", "key", "remedy"),
    [
        ('duration_s = 10\n[nodes]\ncount = "x"\n', 3, "nodes.count", "write a whole number"),
        ("duration_s = 10\nduration = 3\n", 2, "duration", "did you mean `duration_s`?"),
        ("duration_s = 10\n[nodes\n", 2, None, "correct the line"),
    ],
)
def test_an_invalid_scenario_gives_file_line_key_and_remedy(
    tmp_path: Path, text: str, line: int, key: str | None, remedy: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(wayhop.InputError) as caught:
        wayhop.run(path, progress=False)
    error = caught.value
    assert (error.file, error.line, error.key, error.exit_code) == (str(path), line, key, 2)
    assert error.remedy and remedy in error.remedy


def test_an_invalid_value_and_a_missing_file_are_named() -> None:
    with pytest.raises(wayhop.InputError) as caught:
        wayhop.run(FIRST, set={"radio.tx_power": 15}, progress=False)
    assert (caught.value.key, caught.value.remedy) == ("radio.tx_power", "did you mean `tx_power_dbm`?")
    with pytest.raises(wayhop.InputError) as caught:
        wayhop.run("none.toml", progress=False)
    assert caught.value.file == "none.toml" and "check the name" in str(caught.value.remedy)
    with pytest.raises(wayhop.InputError, match="has no form in TOML"):
        wayhop.run(FIRST, set={"duration_s": object()})


def test_several_problems_are_all_there() -> None:
    lines = ["wayhop: a.toml:1:2: radio.preset: unknown; use 80211b", "wayhop: a.toml:4:1: nodes[0].x_m: bad"]
    error = wayhop.errors.failure(lines, 2, [])
    first = Problem("unknown", "use 80211b", "a.toml", 1, 2, "radio.preset")
    assert error.problems == (first, Problem("bad", None, "a.toml", 4, 1, "nodes[0].x_m"))


def test_arguments_that_the_command_rejects_are_an_error() -> None:
    with pytest.raises(wayhop.InputError, match="unexpected argument '--seedx'") as caught:
        _command.call(["run", "--seedx", "2"])
    assert caught.value.remedy == "a similar argument exists: '--seed'"
    with pytest.raises(wayhop.InputError) as caught:
        wayhop.run(FIRST, seed=-1)
    error = caught.value
    assert (error.key, error.problems[0].message) == ("seed", "invalid value '-1' for '--seed <N>'")
    assert error.remedy is not None and error.remedy.startswith("give a whole number from 0")


def test_progress_lines_become_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    bar = _command.Progress("sweep", True)
    assert bar.takes("3 of 12 runs, about 3.3 s left") and not bar.takes("warning: 3 flows")
    assert "3/12" in capsys.readouterr().err
    assert bar.takes("12 of 12 runs")
    bar.close()
    assert _command.Progress("", False).takes("simulated 12.5 of 30.0 s, 2.5 times real time, 7 s left")


def test_an_interrupt_leaves_a_run_that_can_be_read(tmp_path: Path) -> None:
    code = f"import wayhop; wayhop.run({str(FIRST)!r}, duration_s=1e6, out={str(tmp_path / 'cut')!r})"
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    checkpoint = tmp_path / "cut/tables.checkpoint"
    while not checkpoint.exists():
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    run = wayhop.load(tmp_path / "cut")
    assert run.status == "interrupted"
    assert 0 < run.summary.simulated_s < 1e6
    assert run.tables["packets"].collect().height > 0
