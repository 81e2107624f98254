"""Rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..simulation import Step

Reward = Callable[[Step], Mapping[str, float]]
"""A reward for each node, by its name, for what happened in a step."""

FRAME_COST = 0.01
"""What a frame costs, in delivered packets."""


def delivered_minus_cost(step: Step) -> dict[str, float]:
    """The default: each node's delivered packets, minus 0.01 for each frame that it transmits.

    A delivery counts for the source of the packet, a frame for the node that sends it. So the sum over
    all nodes is what the network delivers, minus what it costs.
    """
    values = step.delivered - FRAME_COST * step.transmissions
    return dict(zip(step.nodes, values.tolist(), strict=True))
