"""What the host knows of a kind of class that it hosts: protocols, or applications."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, Generic, NamedTuple, TypeVar

from .handler import HandlerCx

O = TypeVar("O")  # noqa: E741
C = TypeVar("C", bound=HandlerCx)


class Hosted(Generic[O, C]):
    """One node's object, and the context of its handlers."""

    __slots__ = ("object", "cx", "is_lost")

    def __init__(self, object_: O, cx: C) -> None:
        self.object = object_
        self.cx = cx
        self.is_lost = False
        """Whether the node lost its memory, and the object with it."""


class Seam(NamedTuple):
    """A kind of class."""

    base: type
    """What its classes are derived from."""
    noun: str
    """What several are called."""
    remedy: str
    """What to do with one where another kind is expected."""
    describe: Callable[[type[Any], str], dict[str, Any]]
    """What Wayhop needs to know of a class in the file at a path."""
    create: Callable[..., Hosted[Any, Any]]
    """Makes the object of a node that starts, or starts again."""
    calls: tuple[Callable[[Hosted[Any, Any], bytes, int], None], ...]
    """By kind of call. The first starts a node; the kind behind the last one ends its object."""


def default_name(path: str) -> str:
    """The name of a class without one."""
    return "".join(c if c.isalnum() else "-" for c in Path(path).stem.lower())


def summary(cls: type) -> str:
    """The first line of a class's own docstring, without the full stop."""
    doc = (cls.__doc__ or "").strip().splitlines()
    return doc[0].rstrip(".") if doc else ""


def own_handlers(cls: type, base: type, names: Sequence[str]) -> list[str]:
    """The handlers that a class defines."""
    return [name for name in names if getattr(cls, name) is not getattr(base, name)]
