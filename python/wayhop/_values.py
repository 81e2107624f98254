"""Values as the command line takes them, and figures by their path."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .errors import refuse

Seeds = int | range | Sequence[int]
"""A number of seeds (10 means seeds 1 to 10), a range, or a list."""


def toml(value: object, key: str) -> str:
    """A value as TOML, for ``--set`` and ``--vary``."""
    import tomlkit

    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        value = int(value)
    elif isinstance(value, numbers.Real) and not isinstance(value, (bool, int)):
        value = float(value)
    if isinstance(value, Mapping):
        pairs = (f"{quoted(k)} = {toml(v, f'{key}.{k}')}" for k, v in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v, f"{key}.{i}") for i, v in enumerate(value)) + "]"
    if not isinstance(value, (bool, int, float, str, datetime.date)):
        what = f"{key}: {value!r} has no form in TOML"
        raise refuse(what, "give a bool, number, string, list or dict", key=key)
    return tomlkit.item(value).as_string()


def quoted(key: object) -> str:
    """A key as TOML, quoted if it has to be."""
    import tomlkit

    return tomlkit.key(str(key)).as_string()


def assignments(values: Mapping[str, object] | None) -> list[str]:
    """``KEY=VALUE`` for each key."""
    return [f"{key}={toml(value, key)}" for key, value in (values or {}).items()]


def axes(values: Mapping[str, Iterable[object]] | None) -> list[str]:
    """``KEY=VALUE,VALUE`` for each axis."""
    out = []
    for key, each in (values or {}).items():
        if isinstance(each, (str, Mapping)):
            raise refuse(f"vary: {key} has one value", f"give a list: vary={{{key!r}: [{each!r}]}}", key=key)
        listed = list(each)
        if not listed:
            raise refuse(f"vary: {key} has no values", "give at least one", key=key)
        out.append(f"{key}=" + ",".join(toml(value, key) for value in listed))
    return out


def seeds(given: Seeds | None) -> str | None:
    """The argument of ``--seeds``."""
    if given is None:
        return None
    listed = list(range(1, given + 1)) if isinstance(given, int) else [int(seed) for seed in given]
    if not listed or min(listed) < 0:
        raise refuse(f"seeds: {given!r} is not a set of seeds", "give a count from 1, or a list", key="seeds")
    if listed == list(range(listed[0], listed[-1] + 1)):
        return f"{listed[0]}..{listed[-1]}"
    return ",".join(map(str, listed))


ABSENT = object()
"""Stands for what a path does not lead to."""


def inside(value: Any, step: str) -> Any:
    """What one step of a dotted path leads to, of an object or a list; of an undefined figure, None."""
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    if isinstance(value, Mapping):
        return value.get(step, ABSENT)
    return None if value is None else ABSENT


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Numbers, strings and nulls by their dotted path; items of lists by their index."""
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    else:
        return {prefix: value}
    out: dict[str, Any] = {}
    for key, inner in pairs:
        out.update(flat(inner, f"{prefix}.{key}" if prefix else str(key)))
    return out
