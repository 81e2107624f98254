"""Runs: start one, or read one that is there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _command, _html, _values
from .errors import Problem, RunError, refuse
from .scenarios import Scenario, scenario_file
from .summary import Summary
from .tables import Tables

if TYPE_CHECKING:
    import polars

_SAVED = re.compile(r"^saved in +(.+?)(?:; the run directories in .* take [^;]*)?$", re.MULTILINE)


class Run:
    """A run directory: settings, summary, tables and captures of one run."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        """The run directory."""
        manifest = self.directory / "manifest.json"
        if not manifest.is_file():
            what = f"{self.directory} is not a run directory: it has no manifest.json"
            raise refuse(
                what, "give the directory that `wayhop run` prints as `saved in`", file=str(manifest)
            )
        self.manifest: dict[str, Any] = _object(manifest)
        """Version, scenario, inputs, seed, and how the run ended: docs/reference/run-directory.md."""

    @property
    def status(self) -> str:
        """``complete``, ``interrupted``, ``failed``, ``running`` or ``killed``."""
        return str(self.manifest["status"])

    @cached_property
    def summary(self) -> Summary:
        """The results: ``run.summary.totals.latency_ms.p95``. An undefined figure is None.

        Those of a run that was killed, or is still running, are counted from its tables:
        ``run.summary.cut_off_s`` says up to when.
        """
        path = self.directory / "summary.json"
        if not path.is_file():
            text = _command.call(["export", "summary", str(self.directory)])
            return Summary(json.loads(text))
        return Summary(_object(path))

    @cached_property
    def tables(self) -> Tables:
        """The tables by name: ``run.tables["packets"]`` is a polars LazyFrame."""
        return Tables(self.directory)

    @property
    def captures(self) -> dict[str, Path]:
        """Files with what each node's interface sent and received, by node (``captures=True``)."""
        return {path.stem: path for path in sorted((self.directory / "captures").glob("*.pcapng"))}

    def why(self) -> polars.DataFrame:
        """A row per lost packet with its cause, as `wayhop why` finds it.

        ``reason`` is what ended its last copy; ``path_existed`` says whether the geometry offered a path
        all the time from sending to the end; the columns ``causes.*`` count its frames by what happened
        to them at their receivers, in runs with ``receptions=True``. Times are seconds.
        """
        import polars

        text = _command.call(["why", str(self.directory), "--json"], notes=False)
        rows = [_values.flat(json.loads(line)) for line in text.splitlines()]
        renamed = [{k.replace("path.", "path_"): v for k, v in row.items() if k != "wayhop"} for row in rows]
        return polars.DataFrame(renamed, infer_schema_length=None)

    def __repr__(self) -> str:
        return f"Run({str(self.directory)!r}, {self.status})"

    def _repr_html_(self) -> str:
        return _html.of_run(self)


def decode(capture: str | os.PathLike[str]) -> polars.DataFrame:
    """The routing messages in a capture (pcap or pcapng), a row per message.

    ``time_ns`` is nanoseconds since the start of the capture, ``signal_dbm`` the received power if the capture has
    radiotap or PPI headers, and ``sent`` says whether the capturing node sent it. Columns:
    docs/reference/schemas/decode.schema.json.
    """
    import polars

    text = _command.call(["decode", str(capture)], notes=False)
    rows = [json.loads(line) for line in text.splitlines()]
    kept = [{key: value for key, value in row.items() if key != "wayhop"} for row in rows]
    return polars.DataFrame(kept, infer_schema_length=None)


def load(directory: str | os.PathLike[str]) -> Run:
    """Reads the run in a run directory."""
    return Run(directory)


def run(
    scenario: str | os.PathLike[str] | Scenario,
    *,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,
    protocol: str | None = None,
    profile: str | None = None,
    radio: str | None = None,
    duration_s: float | None = None,
    out: str | os.PathLike[str] | None = None,
    captures: bool = False,
    receptions: bool = False,
    topology: bool = False,
    threads: int | None = None,
    progress: bool = True,
) -> Run:
    """Simulates a scenario and returns its run.

    Args:
        scenario: A scenario file, or a `Scenario`.
        seed: Seed of all random number streams.
        set: Keys of the scenario to set: ``{"radio.tx_power_dbm": 15}``.
        protocol: Routing protocol: dsr, aodv, dsdv, none, controlled, or the path of a library or Python module.
        profile: Protocol profile, such as ``"rfc"``.
        radio: Radio preset, such as ``"80211g"``.
        duration_s: Duration, in seconds of simulated time.
        out: Run directory; replaces an older run there. Default: runs/SCENARIO-PROTOCOL-SEED.
        captures: Write a capture for each node.
        receptions: Record the fate of each frame at its receivers, for `Run.why`.
        topology: Add to the summary what the geometry allowed each flow.
        threads: Number of threads that simulate a network of some thousand nodes or more. Default: 1.
        progress: Show a progress bar.

    Raises:
        InputError: The scenario or a value is invalid; its attributes name file, line, key and remedy.
        RunError: The run failed.
        KeyboardInterrupt: After Ctrl-C; the run directory is complete up to then.
    """
    options = _command.arguments_of(
        seed=seed,
        set=_values.assignments(set),
        protocol=protocol,
        profile=profile,
        radio=radio,
        duration=duration_s,
        out=out,
        captures=captures,
        topology=topology,
        receptions=receptions,
        threads=threads,
    )
    with scenario_file(scenario) as path:
        text = _command.call(["run", str(path), *options], label=path.stem, progress=progress)
    return Run(saved(text))


def saved(output: str) -> Path:
    """The directory that the command wrote, from its output."""
    found = _SAVED.search(output)
    if found is None:
        message = f"{_command.path()} did not say where it saved the results"
        remedy = "install the command and the package in the same version"
        raise RunError(f"{message}; {remedy}", [Problem(message, remedy)])
    return Path(found[1])


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise refuse(
            f"cannot read {path}: {e}", "repeat the run, or try `wayhop recover`", file=str(path)
        ) from e
    if not isinstance(value, dict):
        raise refuse(f"{path} is not a JSON object", "repeat the run", file=str(path))
    return value
