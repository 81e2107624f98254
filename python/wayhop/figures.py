"""What the classes of `wayhop.summary` share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, get_args, get_type_hints

from ._values import ABSENT, inside


class Figures:
    """A part of a summary: figures as attributes. An undefined figure is None."""

    _absent: ClassVar[dict[str, type]] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)
        for name, part in self._kinds().items():
            value = data.get(name)
            if value is None and name in self._absent:
                value = self._absent[name]()
            if part is not None and isinstance(value, list):
                value = [part(one) for one in value]
            elif part is not None and value is not None:
                value = part(value)
            setattr(self, name, value)

    @classmethod
    def _kinds(cls) -> dict[str, type[Figures] | None]:
        """Each figure, with the class of its parts if it has some."""
        if "_known" not in cls.__dict__:
            hints = get_type_hints(cls)
            cls._known = {name: _part(hint) for name, hint in hints.items() if not name.startswith("_")}
        return cls._known

    _known: ClassVar[dict[str, type[Figures] | None]]

    def __getitem__(self, path: str) -> Any:
        """A figure by its dotted path, as in tables and plans: ``totals["latency_ms.p95"]``."""
        value: Any = self._data
        for step in path.split("."):
            value = inside(value, step)
            if value is ABSENT:
                raise KeyError(f"there is no figure {path}")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Figures) and type(self) is type(other) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._kinds() if name in self._data)
        return f"{type(self).__name__}({inside})"

    def as_dict(self) -> dict[str, Any]:
        """The figures as read, with keys of newer versions that have no attribute here."""
        return dict(self._data)


def _part(hint: Any) -> type[Figures] | None:
    """The class of the parts in a type: of ``list[Flow]``, ``Flow | None`` or ``Flow``."""
    if isinstance(hint, type) and issubclass(hint, Figures):
        return hint
    return next((found for one in get_args(hint) if (found := _part(one))), None)
