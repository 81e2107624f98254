"""What both environments share: episodes of a scenario, and observations of nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import numpy
from gymnasium import spaces
from numpy.typing import NDArray

from ..errors import refuse
from ..scenarios import Scenario
from ..simulation import Simulation, Step
from ..summary import Summary
from .actions import Actions
from .rewards import delivered_minus_cost
from .settings import Settings

NO_SIGNAL_DBM = -200.0
"""Stands for the signal strength of a node that is no neighbour."""
MOST_DBM = 100.0


def _seconds(settings: Settings, key: Literal["step_s", "warm_up_s", "neighbour_s"], usual: float, least: float) -> float:
    value = settings.get(key, usual)
    if not least <= value < float("inf"):
        raise refuse(f"{key}: {value!r} is not a time", f"give seconds, at least {least:g}", key=key)
    return value


class Episodes:
    """Runs a scenario again and again, each time with another seed."""

    def __init__(
        self, scenario: str | os.PathLike[str] | Scenario, actions: Actions, settings: Settings
    ) -> None:
        self.scenario, self.actions = scenario, actions
        self.reward = settings.get("reward", delivered_minus_cost)
        self.step_s = _seconds(settings, "step_s", 1.0, 1e-6)
        self.warm_up_s = _seconds(settings, "warm_up_s", 0.0, 0.0)
        self.neighbour_s = _seconds(settings, "neighbour_s", 3.0, 0.0)
        self.sets = dict(settings.get("set", {}))
        protocol = settings.get("protocol")
        if actions.protocol and protocol not in (None, actions.protocol):
            what = f"protocol: with NextHops it is {actions.protocol}, not {protocol}"
            raise refuse(what, "remove it, or let agents choose Parameters", key="protocol")
        self.options: dict[str, Any] = {
            "protocol": actions.protocol or protocol,
            "profile": settings.get("profile"),
            "duration_s": settings.get("duration_s"),
        }
        self.first = self._simulation(None, {})
        if self.warm_up_s >= self.first.duration_s:
            what = f"warm_up_s: the run ends at {self.first.duration_s} s"
            raise refuse(what, "give less, or a longer duration_s", key="warm_up_s")
        self.nodes = self.first.nodes
        self.simulation: Simulation | None = None
        self.summary: Summary | None = None

    def _simulation(self, seed: int | None, sets: Mapping[str, object]) -> Simulation:
        return Simulation(self.scenario, seed=seed, set={**self.sets, **sets}, **self.options)

    def begin(self, seed: int, options: Mapping[str, Any] | None) -> Step:
        """Starts an episode, and returns its first step, after the warm-up."""
        simulation = self._simulation(seed, (options or {}).get("set", {}))
        if simulation.nodes != self.nodes:
            what = f"the episode has {len(simulation.nodes)} nodes, the environment {len(self.nodes)}"
            raise refuse(what, "keep the number and names of nodes", key="nodes")
        self.summary = None
        self.simulation = simulation
        simulation.run_until(self.warm_up_s)
        return simulation.observe()

    def running(self) -> Simulation:
        """The simulation of the episode."""
        if self.simulation is None:
            raise refuse("the episode is over, or has not begun", "call reset() first")
        return self.simulation

    def advance(self) -> tuple[Step, bool]:
        """Runs for a step, and returns it, and whether the episode is over."""
        simulation = self.running()
        over = simulation.run_for(self.step_s)
        step = simulation.observe()
        if over:
            self.summary, self.simulation = simulation.finish(), None
        return step, over

    def info(self) -> dict[str, Any]:
        """What a step says besides observations: in the last one, the hash of the run's trace."""
        return {"trace_hash": self.summary.trace_hash} if self.summary else {}

    def observed(self, step: Step) -> dict[str, NDArray[Any]]:
        """What the nodes observe, an array by quantity with a row per node."""
        is_neighbour = step.heard_s <= self.neighbour_s
        return {
            "neighbours": is_neighbour.astype(numpy.int8),
            "signal_dbm": numpy.where(is_neighbour, step.signal_dbm, numpy.float32(NO_SIGNAL_DBM)),
            "queued": step.queued.astype(numpy.float32)[:, None],
            "position_m": step.position_m.astype(numpy.float32),
            "attempts": step.attempts.astype(numpy.float32),
            "arrivals": step.arrivals.astype(numpy.float32),
        }

    def space(self, agents: int | None) -> spaces.Dict:
        """The space of observations of this number of nodes together; None: of one node alone."""
        n = len(self.nodes)
        rows = () if agents is None else (agents,)
        endless = numpy.inf

        def box(low: float, high: float, width: int) -> spaces.Box:
            return spaces.Box(low, high, (*rows, width), numpy.float32)

        return spaces.Dict(
            {
                "neighbours": spaces.MultiBinary([*rows, n]),
                "signal_dbm": box(NO_SIGNAL_DBM, MOST_DBM, n),
                "queued": box(0, endless, 1),
                "position_m": box(-endless, endless, 3),
                "attempts": box(0, endless, n),
                "arrivals": box(0, endless, n),
            }
        )
