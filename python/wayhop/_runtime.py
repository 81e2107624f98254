"""Finds the compiled simulator, and turns its failures into the package's exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from .errors import MissingError, Problem, failure, missing


class Engine(Protocol):
    """The class of the compiled module, whose arrays come as bytes."""

    def facts(self) -> str: ...
    def run_until(self, time_ns: int) -> bool: ...
    def observe(self) -> dict[str, Any]: ...
    def set_parameters(self, node: int, json: str) -> None: ...
    def set_routes(self, node: int, routes: Sequence[tuple[int, int]]) -> None: ...
    def finish(self) -> str: ...


def module() -> Any:
    """The compiled module, in this package's version."""
    try:
        found = import_module("wayhop_runtime")
    except ModuleNotFoundError:
        raise missing("wayhop-runtime", "runtime") from None
    ours = _version()
    if ours and found.__version__ != ours:
        message = f"wayhop-runtime {found.__version__} does not fit wayhop {ours}"
        remedy = f"pip install wayhop-runtime=={ours}"
        raise MissingError(f"{message}; {remedy}", [Problem(message, remedy)])
    return found


@cache
def _version() -> str | None:
    """This package's version, read once from its metadata; None if it is used from a checkout."""
    try:
        return version("wayhop")
    except PackageNotFoundError:
        return None


@contextmanager
def failures(arguments: Sequence[str] = ()) -> Iterator[Any]:
    """Calls of the module in this ``with`` fail with the package's exceptions."""
    compiled = module()
    try:
        yield compiled
    except compiled.Failure as e:
        exit_code, lines = e.args
        raise failure([f"wayhop: {line}" for line in lines], exit_code, arguments) from None
