"""Q-routing (Boyan and Littman, NIPS 1993): each node learns the cost of each neighbour for each destination.

    python3 examples/gym/q_routing.py [--episodes N] [--seeds N]

Trains on some seeds of lossy-grid.toml, and compares the trained nodes with untrained ones and with AODV on
other seeds. It takes about two minutes. Needs wayhop[gym].
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy

import wayhop
from wayhop import statistics
from wayhop.gym import NextHops, RoutingEnv

SCENARIO = Path(__file__).with_name("lossy-grid.toml")
DESTINATIONS = [2, 10, 14]
STEP_S = 0.5
LEARNING_RATE = 0.3
LOST_COST = 20.0
"""Frames that a lost packet is worth."""


class Node:
    """One node's table: expected frames until a packet for a destination arrives, if it goes by a neighbour."""

    def __init__(self, number: int, nodes: int) -> None:
        self.number = number
        # Optimistic: what was never tried looks best.
        self.cost = numpy.zeros((len(DESTINATIONS), nodes))
        self.chosen = numpy.full(len(DESTINATIONS), number)

    def act(self, seen: dict, explore: float, rng: numpy.random.Generator) -> numpy.ndarray:
        """A next hop for each destination: the cheapest neighbour, or with some probability any."""
        neighbours = numpy.flatnonzero(seen["neighbours"])
        for k, destination in enumerate(DESTINATIONS):
            self.chosen[k] = self.number
            if destination != self.number and len(neighbours):
                costs = self.cost[k, neighbours]
                best = neighbours if rng.random() < explore else neighbours[costs == costs.min()]
                self.chosen[k] = rng.choice(best)
        return self.chosen.copy()

    def remaining(self, k: int, neighbours: numpy.ndarray) -> float:
        """The cost from here; what a node tells its neighbours in Q-routing."""
        if DESTINATIONS[k] == self.number:
            return 0.0
        return float(self.cost[k, neighbours].min()) if len(neighbours) else LOST_COST

    def learn(self, seen: dict, others: list[Node], neighbours: list[numpy.ndarray]) -> None:
        """Moves the costs of the neighbours that were used towards what the step showed."""
        for k, hop in enumerate(self.chosen):
            if seen["attempts"][hop] == 0:
                continue
            arrived = seen["arrivals"][hop]
            frames = seen["attempts"][hop] / max(arrived, 1)
            onward = others[hop].remaining(k, neighbours[hop])
            sample = frames + (onward if arrived else LOST_COST)
            self.cost[k, hop] += LEARNING_RATE * (sample - self.cost[k, hop])


def episode(env: RoutingEnv, nodes: list[Node], seed: int, *, explore: float, learning: bool) -> wayhop.Summary:
    """Runs one episode."""
    rng = numpy.random.default_rng(seed)
    seen, _ = env.reset(seed=seed)
    while env.agents:
        acting = zip(nodes, env.agents, strict=True)
        seen, *_ = env.step({agent: node.act(seen[agent], explore, rng) for node, agent in acting})
        if learning:
            each = [seen[agent] for agent in env.possible_agents]
            neighbours = [numpy.flatnonzero(one["neighbours"]) for one in each]
            for node, own in zip(nodes, each, strict=True):
                node.learn(own, nodes, neighbours)
    assert env.summary is not None
    return env.summary


def row(name: str, runs: list[wayhop.Summary]) -> str:
    """A line of the table: means over the runs, delivery with its 95 % interval."""
    totals = [run.totals for run in runs]
    delivery = statistics.mean_interval([100 * t.delivery_ratio for t in totals])
    latency = statistics.mean_interval([t.latency_ms.mean for t in totals])
    routing = statistics.mean_interval([t.routing_packets for t in totals])
    return (
        f"| {name} | {delivery.mean:.1f} ± {delivery.half_width:.1f} | "
        f"{latency.mean:.0f} ± {latency.half_width:.0f} | {routing.mean:.0f} |"
    )


def main() -> None:
    """Trains, and prints the table."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--episodes", type=int, default=30, help="episodes of training")
    arguments.add_argument("--seeds", type=int, default=8, help="runs of the comparison")
    given = arguments.parse_args()

    env = RoutingEnv(SCENARIO, NextHops(DESTINATIONS), step_s=STEP_S, warm_up_s=3)
    trained, untrained = ([Node(i, len(env.possible_agents)) for i in range(15)] for _ in range(2))
    for number in range(given.episodes):
        explore = 0.2 * (1 - number / given.episodes)
        summary = episode(env, trained, 1 + number, explore=explore, learning=True)
        print(f"episode {number + 1}: {100 * summary.totals.delivery_ratio:.1f} % delivered", flush=True)

    seeds = range(1001, 1001 + given.seeds)
    runs = {
        "untrained": [episode(env, untrained, seed, explore=0, learning=False) for seed in seeds],
        "trained": [episode(env, trained, seed, explore=0, learning=False) for seed in seeds],
        "AODV": [],
    }
    for seed in seeds:
        simulation = wayhop.Simulation(SCENARIO, seed=seed, protocol="aodv")
        simulation.run_until(simulation.duration_s)
        runs["AODV"].append(simulation.finish())

    print("\n| agents | delivered, % | mean delay, ms | routing packets |\n|---|---|---|---|")
    for name, each in runs.items():
        print(row(name, each))
    for baseline in ("untrained", "AODV"):
        ours, theirs = ([100 * run.totals.delivery_ratio for run in runs[n]] for n in ("trained", baseline))
        gain = statistics.paired_interval(ours, theirs)
        print(f"trained minus {baseline}: {gain.mean:+.1f} points, 95 % from {gain.low:+.1f} to {gain.high:+.1f}")


if __name__ == "__main__":
    main()
