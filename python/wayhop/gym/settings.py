"""The settings that all environments share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from .rewards import Reward


class Settings(TypedDict, total=False):
    """Keyword arguments of `RoutingEnv` and `CentralEnv`; all are optional."""

    reward: Reward
    """A function from a `Step` to a reward per node. Default: `delivered_minus_cost`."""
    step_s: float
    """Simulated time between decisions, in seconds. Default: 1."""
    warm_up_s: float
    """Simulated time before the first decision, in seconds, such as for Hellos. Default: 0."""
    neighbour_s: float
    """How long a node counts as a neighbour after it was heard, in seconds. Default: 3."""
    set: Mapping[str, object]
    """Keys of the scenario to set: ``{"radio.tx_power_dbm": 15}``."""
    protocol: str
    """Routing protocol whose `Parameters` agents set. Default: the scenario's."""
    profile: str
    """Protocol profile, such as ``"rfc"``."""
    duration_s: float
    """Duration of an episode, in seconds of simulated time. Default: the scenario's."""
