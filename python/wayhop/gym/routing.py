"""An agent per node."""

from __future__ import annotations

import os
from typing import Any, Unpack

import numpy
from gymnasium import spaces
from pettingzoo import ParallelEnv

from ..scenarios import Scenario
from ..simulation import Step
from ..summary import Summary
from ._episode import Episodes
from .actions import Actions, NextHops
from .settings import Settings


class RoutingEnv(ParallelEnv[str, dict[str, Any], Any]):
    """An agent per node decides how packets travel: a ``ParallelEnv`` of PettingZoo.

    Agents have the names of the nodes. Each observes, for its own node:

    ``neighbours`` (which nodes it heard in the last ``neighbour_s``), ``signal_dbm`` (the power with
    which it heard each, -200 for others), ``queued`` (frames in its queues), ``position_m``, and of the last
    step ``attempts`` (frames that it sent to each node) and ``arrivals`` (packets that arrived there).

    An episode is a run of the scenario, and is truncated at its end; no agent ends earlier. ``reset(seed=7)``
    runs the scenario with seed 7; without a seed, episodes get different seeds that follow from the
    last one. ``reset(options={"set": {...}})`` sets keys of the scenario for one episode.

    Args:
        scenario: A scenario file, or a `Scenario`.
        actions: What agents decide: `NextHops`, the default, or `Parameters`.
        settings: See `Settings`.

    Raises:
        InputError: The scenario or a value is invalid.
        MissingError: A package of ``wayhop[gym]`` is not installed.
    """

    metadata = {"name": "wayhop_routing", "render_modes": []}

    def __init__(
        self,
        scenario: str | os.PathLike[str] | Scenario,
        actions: Actions | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        chosen = NextHops() if actions is None else actions
        self._episodes = Episodes(scenario, chosen, settings)
        self._rng = numpy.random.default_rng()
        self.possible_agents = list(self._episodes.nodes)
        self.agents: list[str] = []
        first = self._episodes.first
        self.observation_spaces = {a: self._episodes.space(None) for a in self.possible_agents}
        self.action_spaces = {a: chosen.space(first, 1) for a in self.possible_agents}

    @property
    def summary(self) -> Summary | None:
        """The summary of the last episode; None while one is under way."""
        return self._episodes.summary

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def neutral_actions(self) -> dict[str, Any]:
        """Actions that change nothing after the start: no routes, or the scenario's parameters."""
        first, actions = self._episodes.first, self._episodes.actions
        return {agent: actions.neutral(first, [node]) for node, agent in enumerate(self.possible_agents)}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
        """Starts an episode; returns observations and infos by agent."""
        if seed is not None:
            self._rng = numpy.random.default_rng(seed)
        run_seed = int(self._rng.integers(2**31)) if seed is None else seed
        step = self._episodes.begin(run_seed, options)
        self.agents = list(self.possible_agents)
        return self._seen(step), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, dict[str, Any]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Carries out the actions, and runs for ``step_s``; agents without an action keep their last one."""
        simulation = self._episodes.running()
        for node, agent in enumerate(self.possible_agents):
            if agent in actions:
                self._episodes.actions.apply(simulation, [node], actions[agent])
        step, over = self._episodes.advance()
        agents, given = self.agents, self._episodes.reward(step)
        if over:
            self.agents = []
        return (
            self._seen(step),
            {agent: float(given[agent]) for agent in agents},
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, over),
            {agent: self._episodes.info() for agent in agents},
        )

    def render(self) -> None:
        """Shows nothing: `wayhop.run` and the studio do."""

    def close(self) -> None:
        """Drops the episode that is under way."""
        self._episodes.simulation = None

    def _seen(self, step: Step) -> dict[str, dict[str, Any]]:
        arrays = self._episodes.observed(step)
        return {
            agent: {name: rows[node] for name, rows in arrays.items()}
            for node, agent in enumerate(self.possible_agents)
        }
