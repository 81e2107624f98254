"""Scenario files: load, change and save, with comments kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError, Problem, refuse

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


class Scenario:
    """A scenario: ``scenario["radio.tx_power_dbm"] = 15`` changes one key and keeps comments.

    Keys are dotted paths, as for ``--set``; items of a list are counted from 0: ``traffic.0.rate_pps``.
    Units are in the names of the keys. Whether keys and values are valid is checked when it runs.
    """

    def __init__(self, text: str = "", path: str | os.PathLike[str] | None = None) -> None:
        import tomlkit
        from tomlkit.exceptions import ParseError

        self.path = None if path is None else Path(path)
        """The file that it was loaded from; relative paths in it start at its folder."""
        try:
            self.document: TOMLDocument = tomlkit.parse(text)
            """The document of tomlkit, for changes that keys cannot express."""
        except ParseError as e:
            name = None if path is None else str(path)
            problem = Problem(str(e), "correct the line", name, e.line, e.col)
            raise InputError(
                f"{name or 'scenario'}:{e.line}:{e.col}: {e}; correct the line", [problem]
            ) from e

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Reads a scenario file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise refuse(
                f"cannot read {path}: {e}", "check the name and the permissions", file=str(path)
            ) from e
        return cls(text, path)

    def save(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Writes it to ``path``, or to the file that it was loaded from, and returns the path."""
        target = Path(path) if path is not None else self.path
        if target is None:
            raise refuse("the scenario has no file", 'give a path: scenario.save("first.toml")')
        _write(target, self.text())
        self.path = target
        return target

    def text(self) -> str:
        """The scenario as TOML."""
        return self.document.as_string()

    def __getitem__(self, key: str) -> Any:
        value: Any = self.document
        for step in key.split("."):
            value = _inside(value, step, key)
        return value.unwrap() if hasattr(value, "unwrap") else value

    def __setitem__(self, key: str, value: object) -> None:
        import tomlkit

        *parents, last = key.split(".")
        table: Any = self.document
        for step in parents:
            if isinstance(table, MutableMapping) and step not in table:
                table[step] = tomlkit.table()
            table = _inside(table, step, key)
        if isinstance(table, list):
            _inside(table, last, key)
            table[int(last)] = value
        elif isinstance(table, MutableMapping):
            table[last] = value
        else:
            raise KeyError(f"{key}: {'.'.join(parents)} is a value, not a table")

    def __delitem__(self, key: str) -> None:
        *parents, last = key.split(".")
        table: Any = self.document
        for step in parents:
            table = _inside(table, step, key)
        _inside(table, last, key)
        del table[int(last) if isinstance(table, list) else last]

    def __contains__(self, key: object) -> bool:
        try:
            self[str(key)]
        except KeyError:
            return False
        return True

    def __repr__(self) -> str:
        return f"Scenario({str(self.path)!r})" if self.path else "Scenario()"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as e:
        remedy = "check that its folder exists and is writable"
        raise refuse(f"cannot write {path}: {e}", remedy, file=str(path)) from e


def _inside(value: Any, step: str, key: str) -> Any:
    if isinstance(value, MutableMapping) and step in value:
        return value[step]
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    raise KeyError(f"{key}: there is no {step}")


@contextmanager
def scenario_file(scenario: str | os.PathLike[str] | Scenario) -> Iterator[Path]:
    """The scenario as a file that the command can read, for the time of a ``with``.

    A changed `Scenario` is written beside its file, because relative paths in it start there.
    """
    if not isinstance(scenario, Scenario):
        yield Path(scenario)
        return
    import tomlkit

    folder = scenario.path.parent if scenario.path else Path()
    text = scenario.text()
    if "name" not in scenario.document:
        name = scenario.path.stem if scenario.path else "scenario"
        text = f"name = {tomlkit.string(name).as_string()}\n{text}"
    # Named after its content: a sweep that is called again has the same scenario file.
    path = folder / f".wayhop-{sha256(text.encode()).hexdigest()[:16]}.toml"
    _write(path, text)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
