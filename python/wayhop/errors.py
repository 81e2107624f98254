"""Errors of the command, as exceptions with file, line, key and remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<rest>.+)", re.DOTALL)
_KEY = re.compile(
    r"(?P<key>[A-Za-z_][\w-]*(?:(?:\.[\w-]+)|(?:\[\d+\]))*)(?P<origin> \([^)]*\))?: (?P<rest>.+)", re.DOTALL
)
_NAMED = re.compile(r"unknown key `(?P<key>[^`]+)`")
_OPTION = re.compile(
    r"(?P<message>invalid value '.*' for '--(?P<key>[\w-]+)[^']*'): (?P<remedy>.+)", re.DOTALL
)


@dataclass(frozen=True)
class Problem:
    """One problem that the command reports. A part that it does not give is None."""

    message: str
    """What is wrong."""
    remedy: str | None = None
    """How to fix it."""
    file: str | None = None
    """The file, as the command names it."""
    line: int | None = None
    """Line in the file, from 1."""
    column: int | None = None
    """Column in the line, from 1."""
    key: str | None = None
    """The key of the scenario, plan or configuration: ``radio.tx_power_dbm``; or the option: ``seed``."""

    @classmethod
    def of(cls, text: str, arguments: Sequence[str] = ()) -> Problem:
        """Reads one message of the command.

        ``arguments`` are those that the command was given: a message about one of them starts with it.
        """
        file = line = column = key = None
        rest = text
        if place := _PLACE.fullmatch(rest):
            file, line, column = place["file"], int(place["line"]), int(place["column"])
            rest = place["rest"]
        elif named := next((a for a in arguments if a and rest.startswith(f"{a}: ")), None):
            file, rest = named, rest[len(named) + 2 :]
        if found := _KEY.fullmatch(rest):
            key = found["key"]
            rest = found["rest"]
        elif found := _NAMED.match(rest):
            key = found["key"]
        message, _, remedy = rest.partition("; ")
        return cls(message, remedy or None, file, line, column, key)


class WayhopError(Exception):
    """The command failed. The attributes are those of the first problem that it reports."""

    def __init__(self, text: str, problems: Sequence[Problem] = (), exit_code: int | None = None) -> None:
        super().__init__(text)
        self.problems = tuple(problems) or (Problem(text),)
        """Every problem that the command reports."""
        self.exit_code = exit_code
        """Exit code of the command; None if no command ran."""

    @property
    def file(self) -> str | None:
        """The file with the problem, as the command names it."""
        return self.problems[0].file

    @property
    def line(self) -> int | None:
        """Line in the file, from 1."""
        return self.problems[0].line

    @property
    def key(self) -> str | None:
        """The key of the scenario, plan or configuration, or the option."""
        return self.problems[0].key

    @property
    def remedy(self) -> str | None:
        """How to fix it."""
        return self.problems[0].remedy


class InputError(WayhopError, ValueError):
    """Invalid arguments or input: nothing was done."""


class RunError(WayhopError, RuntimeError):
    """Valid input, but the command failed: a full disk, a limit, a bug."""


class MissingError(WayhopError, ImportError):
    """The command or an optional package is not installed; ``remedy`` says how to install it."""


def missing(package: str, extra: str) -> MissingError:
    """The error for an optional package that belongs to an extra of the wheel."""
    remedy = f"pip install 'wayhop[{extra}]'"
    return MissingError(
        f"{package} is not installed; {remedy}", [Problem(f"{package} is not installed", remedy)]
    )


def refuse(message: str, remedy: str, *, key: str | None = None, file: str | None = None) -> InputError:
    """An error of the package's own, with the same parts as those of the command."""
    return InputError(f"{message}; {remedy}", [Problem(message, remedy, file=file, key=key)])


def failure(stderr: Sequence[str], exit_code: int, arguments: Sequence[str]) -> WayhopError:
    """The exception for what a failed command printed on standard error."""
    kind = InputError if exit_code == 2 else RunError
    ours = [line.removeprefix("wayhop: ") for line in stderr if line.startswith("wayhop: ")]
    if ours:
        return kind("\n".join(ours), [Problem.of(line, arguments) for line in ours], exit_code)
    text = "\n".join(stderr).strip()
    if text.startswith("error: "):
        parts = [part.strip() for part in text.removeprefix("error: ").split("\n\n")]
        if option := _OPTION.fullmatch(parts[0]):
            problem = Problem(option["message"], option["remedy"], key=option["key"])
        else:
            tip = next((part.removeprefix("tip: ") for part in parts if part.startswith("tip: ")), None)
            problem = Problem(parts[0], tip)
        return kind(parts[0], [problem], exit_code)
    text = text or f"wayhop ended with exit code {exit_code} and printed nothing"
    return kind(text, (), exit_code)
