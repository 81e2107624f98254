"""What agents decide: next hops, or parameters of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from gymnasium import spaces
from numpy.typing import NDArray

from ..errors import refuse
from ..simulation import Simulation


@dataclass(frozen=True)
class NextHops:
    """Agents choose the next hop for each destination. The environment runs the protocol ``controlled``.

    An action is an array with the number of a node for each destination: the next hop, whether it
    is in range or not. A node's own number means no route.
    """

    destinations: Sequence[int] | None = None
    """The destinations, as node numbers. Default: all nodes."""

    protocol = "controlled"

    def _of(self, simulation: Simulation) -> list[int]:
        n = len(simulation.nodes)
        chosen = list(range(n) if self.destinations is None else self.destinations)
        if not chosen or any(not 0 <= d < n for d in chosen) or len(set(chosen)) < len(chosen):
            what = f"destinations: {chosen} are not nodes of {simulation.name}"
            raise refuse(what, f"give different numbers from 0 to {n - 1}", key="destinations")
        return chosen

    def space(self, simulation: Simulation, agents: int) -> spaces.Space[Any]:
        """The action space of this number of nodes together."""
        n = len(simulation.nodes)
        return spaces.MultiDiscrete(numpy.full(agents * len(self._of(simulation)), n))

    def neutral(self, simulation: Simulation, nodes: Sequence[int]) -> Any:
        """The action of these nodes with which nothing changes after the start."""
        return numpy.repeat(numpy.array(nodes, numpy.int64), len(self._of(simulation)))

    def apply(self, simulation: Simulation, nodes: Sequence[int], action: Any) -> None:
        """Carries out an action of these nodes."""
        destinations = self._of(simulation)
        chosen = _numbers(action, (len(nodes), len(destinations)))
        for node, hops in zip(nodes, chosen.tolist(), strict=True):
            pairs = zip(destinations, hops, strict=True)
            simulation.set_routes(node, {to: by for to, by in pairs if node not in (to, by)})


@dataclass(frozen=True)
class Parameters:
    """Agents set parameters of their node's routing protocol.

    An action is a dictionary with, for each parameter, an array of one number within its range, or the
    position of its choice. Parameters whose range has two whole numbers are rounded.

    >>> Parameters({"hello_interval_ms": (500, 5000), "local_repair": ["off", "within_ttl"]})
    """

    choices: Mapping[str, tuple[float, float] | Sequence[object]]
    """By parameter: a pair (least, greatest), or a list of values to choose from."""

    protocol = None

    def _start(self, simulation: Simulation, name: str) -> Any:
        if name not in simulation.parameters:
            what = f"{name}: {simulation.protocol} has no such parameter"
            known = ", ".join(sorted(simulation.parameters)) or "none"
            raise refuse(what, f"its parameters are: {known}", key=name)
        return simulation.parameters[name]

    def space(self, simulation: Simulation, agents: int) -> spaces.Space[Any]:
        """The action space of this number of nodes together."""
        found: dict[str, spaces.Space[Any]] = {}
        for name, choice in self.choices.items():
            start = self._start(simulation, name)
            if isinstance(choice, tuple):
                low, high = choice
                if not isinstance(start, (int, float)) or not low <= start <= high:
                    what = f"{name}: the scenario's value {start!r} is not in {low} to {high}"
                    raise refuse(what, "widen the range, or change the scenario with set", key=name)
                found[name] = spaces.Box(low, high, (agents,), numpy.float64)
            elif start not in choice:
                what = f"{name}: the scenario's value {start!r} is not one of {list(choice)}"
                raise refuse(what, "add it, or change the scenario with set", key=name)
            elif agents == 1:
                found[name] = spaces.Discrete(len(choice))
            else:
                found[name] = spaces.MultiDiscrete(numpy.full(agents, len(choice)))
        return spaces.Dict(found)

    def neutral(self, simulation: Simulation, nodes: Sequence[int]) -> Any:
        """The action of these nodes with which nothing changes after the start."""
        found: dict[str, Any] = {}
        for name, choice in self.choices.items():
            start = self._start(simulation, name)
            if isinstance(choice, tuple):
                found[name] = numpy.full(len(nodes), start, numpy.float64)
            else:
                place = list(choice).index(start)
                found[name] = place if len(nodes) == 1 else numpy.full(len(nodes), place)
        return found

    def apply(self, simulation: Simulation, nodes: Sequence[int], action: Any) -> None:
        """Carries out an action of these nodes."""
        each: list[dict[str, object]] = [{} for _ in nodes]
        for name, choice in self.choices.items():
            if isinstance(choice, tuple):
                numbers = numpy.asarray(action[name], numpy.float64).reshape(len(nodes)).tolist()
                whole = all(isinstance(end, int) for end in choice)
                values: list[object] = [round(number) if whole else number for number in numbers]
            else:
                values = [choice[place] for place in _numbers(action[name], (len(nodes),)).tolist()]
            for changes, value in zip(each, values, strict=True):
                changes[name] = value
        for node, changes in zip(nodes, each, strict=True):
            simulation.set_parameters(node, changes)


Actions = NextHops | Parameters


def _numbers(action: Any, shape: tuple[int, ...]) -> NDArray[numpy.int64]:
    try:
        return numpy.asarray(action, numpy.int64).reshape(shape)
    except (TypeError, ValueError) as e:
        what = f"action: {e}"
        raise refuse(what, "give an element of the action space", key="action") from e
