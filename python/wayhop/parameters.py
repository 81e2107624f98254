"""Parameters of protocols and applications: attributes of a class that scenarios set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar, cast

T = TypeVar("T", bool, int, float, str)

_ADDRESS = 4
"""The type of a parameter that is a node's address, as Wayhop numbers types."""


class Parameter:
    """A parameter as ``parameter()`` or ``address_parameter()`` declared it."""

    def __init__(
        self,
        default: Any,
        about: str,
        minimum: float | None = None,
        maximum: float | None = None,
        choices: Sequence[str] = (),
        *,
        is_address: bool = False,
    ) -> None:
        self.default, self.about = default, about
        self.minimum, self.maximum, self.choices = minimum, maximum, choices
        self.is_address = is_address

    def described(self, key: str) -> dict[str, Any]:
        """For Wayhop: its type, range, default and text."""
        kinds = ((bool, 2), (int, 0), (float, 1), (str, 3))
        kind = next((number for type_, number in kinds if isinstance(self.default, type_)), None)
        if kind is None:
            raise TypeError(
                f"has a parameter {key} with the default {self.default!r}; give a bool, int, float or str"
            )
        text = str(self.default).lower() if kind == 2 else str(self.default)
        return {
            "key": key,
            "type": _ADDRESS if self.is_address else kind,
            "default": text,
            "minimum": None if self.minimum is None else str(self.minimum),
            "maximum": None if self.maximum is None else str(self.maximum),
            "choices": "|".join(self.choices) if self.choices else None,
            "about": self.about,
        }


def parameter(
    default: T,
    about: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[str] = (),
) -> T:
    """A parameter of a protocol or an application, as a class attribute.

    Its type is that of the default. Scenarios set it beside the protocol's or application's name, the
    command line with ``--set protocol.NAME=VALUE`` or ``--set applications.0.NAME=VALUE``. Handlers
    read the value of the run as ``self.NAME``.
    """
    return cast(T, Parameter(default, about, minimum, maximum, choices))


def address_parameter(about: str) -> str:
    """A parameter that is a node: its address, or empty if nobody set it.

    In ``[[applications]]``, scenarios give the node's number, name or address.
    """
    return cast(str, Parameter("", about, is_address=True))


class Parameterised:
    """A class with parameters."""

    _parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {key: value for key, value in vars(cls).items() if isinstance(value, Parameter)}
        cls._parameters = {**cls._parameters, **own}
        for key, value in own.items():
            setattr(cls, key, value.default)
