"""Finds the command, runs it, and shows its progress."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

from .errors import MissingError, Problem, failure

_NAME = "wayhop.exe" if os.name == "nt" else "wayhop"
_RUNS = re.compile(r"(\d+) of (\d+) runs\b.*")
_SIMULATED = re.compile(r"simulated ([\d.]+) of ([\d.]+) s\b.*")


def path() -> Path:
    """The command that this package runs.

    The environment variable ``WAYHOP``, if set; or the command that was installed with this package;
    or the first ``wayhop`` in ``PATH``.
    """
    if named := os.environ.get("WAYHOP"):
        if found := shutil.which(named):
            return Path(found).absolute()
        message = f"WAYHOP={named} is not a program"
        remedy = "set WAYHOP to the path of the command, or unset it"
        raise MissingError(f"{message}; {remedy}", [Problem(message, remedy, key="WAYHOP")])
    for scheme in (None, f"{os.name}_user"):
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        if found := shutil.which(_NAME, path=folder):
            return Path(found)
    if found := shutil.which(_NAME):
        return Path(found).absolute()
    message, remedy = "the command wayhop is not installed", "pip install wayhop, or set WAYHOP to its path"
    raise MissingError(f"{message}; {remedy}", [Problem(message, remedy)])


def arguments_of(**options: object) -> list[str]:
    """Command-line arguments for options: True is a flag, None and False are left out, a list repeats."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            out.append(flag)
        elif isinstance(value, (list, tuple)):
            for one in value:
                out += [flag, str(one)]
        elif value is not None and value is not False:
            out += [flag, str(value)]
    return out


class _Bar(Protocol):
    """The part of tqdm that is used here."""

    n: float
    total: float | None

    def refresh(self) -> Any: ...
    def close(self) -> Any: ...


class Progress:
    """Turns the command's lines of progress into a bar, in a terminal or a notebook."""

    def __init__(self, label: str, shown: bool) -> None:
        self._label, self._shown = label, shown
        self._bar: _Bar | None = None

    def takes(self, line: str) -> bool:
        """Whether the line is one of progress, which it then shows."""
        runs, simulated = _RUNS.fullmatch(line), _SIMULATED.fullmatch(line)
        found = runs or simulated
        if not found:
            return False
        done, of = float(found[1]), float(found[2])
        if self._shown:
            self._show(int(done) if runs else done, int(of) if runs else of, "runs" if runs else "s")
        return True

    def _show(self, done: float, of: float, unit: str) -> None:
        if self._bar is None:
            with warnings.catch_warnings():
                # Without ipywidgets tqdm draws the bar as text, which is enough.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
            bar: _Bar = tqdm(total=of, desc=self._label, unit=unit, leave=False)
            self._bar = bar
        self._bar.total, self._bar.n = of, done
        self._bar.refresh()

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()


def call(arguments: Sequence[str], *, label: str = "", progress: bool = False, notes: bool = True) -> str:
    """Runs the command to its end and returns its standard output.

    With ``progress`` a bar follows the run. Other lines on standard error are printed if ``notes``. An
    interrupt (Ctrl-C, or the notebook's stop button) reaches the command as SIGINT: it completes the run
    directory before ``KeyboardInterrupt`` is raised.
    """
    command = [str(path()), *arguments]
    # In a process group of its own, so that Ctrl-C in a terminal reaches it once and through us.
    apart: dict[str, Any] = {"process_group": 0}
    if os.name == "nt":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined,unused-ignore]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        **apart,
    )
    assert child.stdout is not None and child.stderr is not None
    output: list[str] = []
    reader = threading.Thread(target=_drain, args=(child.stdout, output), daemon=True)
    reader.start()
    bar, lines = Progress(label, progress), list[str]()
    try:
        _follow(child.stderr, bar, lines)
        child.wait()
    except BaseException:
        _interrupt(child, lines)
        raise
    finally:
        bar.close()
        reader.join(timeout=10)
        child.stderr.close()
    if child.returncode == 130:
        raise KeyboardInterrupt(lines[-1] if lines else "interrupted")
    if child.returncode != 0:
        raise failure(lines, child.returncode, arguments)
    if notes and lines:
        print("\n".join(lines), file=sys.stderr)
    return "".join(output)


def _drain(stream: TextIO, into: list[str]) -> None:
    with stream:
        into.append(stream.read())


def _follow(stderr: Iterable[str], bar: Progress, lines: list[str]) -> None:
    for line in stderr:
        if not bar.takes(line.rstrip("\n")):
            lines.append(line.rstrip("\n"))


def _interrupt(child: subprocess.Popen[str], lines: list[str]) -> None:
    """Asks the command to stop, and waits until its files are complete; a second interrupt kills it."""
    stop = signal.SIGINT if os.name != "nt" else signal.CTRL_BREAK_EVENT  # type: ignore[attr-defined,unused-ignore]
    try:
        child.send_signal(stop)
        assert child.stderr is not None
        _follow(child.stderr, Progress("", False), lines)
        child.wait()
    except BaseException:
        child.kill()
        child.wait()
        raise
