"""Learning environments on the simulator.

`RoutingEnv` has an agent per node, for PettingZoo; `CentralEnv` has one agent for all nodes, for
Gymnasium. Both need ``wayhop[gym]``. The guide: docs/gym.md.
"""

from __future__ import annotations

from ..errors import missing

try:
    import gymnasium as _gymnasium  # noqa: F401
    import pettingzoo as _pettingzoo  # noqa: F401
except ModuleNotFoundError as e:
    raise missing(str(e.name), "gym") from None

from .actions import NextHops, Parameters
from .central import CentralEnv
from .rewards import delivered_minus_cost
from .routing import RoutingEnv
from .settings import Settings

__all__ = ["CentralEnv", "NextHops", "Parameters", "RoutingEnv", "Settings", "delivered_minus_cost"]
