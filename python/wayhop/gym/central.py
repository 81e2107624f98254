"""One agent for all nodes."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Unpack

import gymnasium

from ..scenarios import Scenario
from ..summary import Summary
from ._episode import Episodes
from .actions import Actions, NextHops
from .settings import Settings


class CentralEnv(gymnasium.Env[dict[str, Any], Any]):
    """One agent that observes all nodes and decides for all of them: an ``Env`` of Gymnasium.

    Observations are those of `RoutingEnv` with a row per node. An action has those of all nodes one after the
    other, or, with `Parameters`, an array with a value per node. The reward is the sum over the nodes.
    Such a controller would need a network of its own to reach the nodes: its results are a bound for
    agents that only know their own node.

    It works in ``gymnasium.vector.SyncVectorEnv`` and ``AsyncVectorEnv``. The arguments are those of
    `RoutingEnv`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(
        self,
        scenario: str | os.PathLike[str] | Scenario,
        actions: Actions | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        chosen = NextHops() if actions is None else actions
        self._episodes = Episodes(scenario, chosen, settings)
        self._all = range(len(self._episodes.nodes))
        self.observation_space = self._episodes.space(len(self._all))
        self.action_space = chosen.space(self._episodes.first, len(self._all))

    @property
    def summary(self) -> Summary | None:
        """The summary of the last episode; None while one is under way."""
        return self._episodes.summary

    def neutral_action(self) -> Any:
        """The action that changes nothing after the start: no routes, or the scenario's parameters."""
        return self._episodes.actions.neutral(self._episodes.first, self._all)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode; returns the observation and an info."""
        super().reset(seed=seed)
        run_seed = int(self.np_random.integers(2**31)) if seed is None else seed
        return self._episodes.observed(self._episodes.begin(run_seed, options)), {}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carries out the action, and runs for ``step_s``."""
        self._episodes.actions.apply(self._episodes.running(), self._all, action)
        step, over = self._episodes.advance()
        reward = float(sum(self._episodes.reward(step).values()))
        return self._episodes.observed(step), reward, False, over, self._episodes.info()

    def close(self) -> None:
        """Drops the episode that is under way."""
        self._episodes.simulation = None
