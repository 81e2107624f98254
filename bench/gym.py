#!/usr/bin/env python3
"""Steps per second of learning environments, against a process per step.

    bench/gym.py [--steps 300] [--rounds 5]

A step is one simulated second of a scenario with AODV, in which all agents set a parameter. A process per step is one
`wayhop run` of the first second, the least that it could cost: it would also have to repeat or restore what came before.
Rounds alternate between all of them, because the machine may be shared with others; the figures are medians over rounds. The
binary is that in WAYHOP, or target/dist/wayhop; wayhop[gym] must be installed for the interpreter that runs this, built
with the same profile.
"""

import argparse
import json
import os
import statistics
import subprocess
import time
from functools import partial
from pathlib import Path

import gymnasium
import wayhop_run

import wayhop
from wayhop.gym import CentralEnv, Parameters, RoutingEnv

ROOT = Path(wayhop_run.ROOT)
SCENARIOS = {
    "15 nodes": ROOT / "examples/gym/lossy-grid.toml",
    "50 nodes": ROOT / "scenarios/first.toml",
}
ACTIONS = Parameters({"rreq_retries": (0, 4)})


def stepped(scenario, steps):
    """The simulator without an environment."""
    simulation = wayhop.Simulation(scenario, protocol="aodv", duration_s=steps)
    begun = time.perf_counter()
    for _ in range(steps):
        simulation.run_for(1)
        simulation.observe()
    return time.perf_counter() - begun


def parallel(scenario, steps):
    """An agent per node."""
    env = RoutingEnv(scenario, ACTIONS, protocol="aodv", duration_s=steps + 1)
    env.reset(seed=1)
    actions = [{agent: env.action_space(agent).sample() for agent in env.agents} for _ in range(8)]
    begun = time.perf_counter()
    for step in range(steps):
        env.step(actions[step % 8])
    return time.perf_counter() - begun


def vector(kind, count, scenario, steps):
    """Several environments, each with an agent for all nodes; a step is one of one of them."""
    make = partial(CentralEnv, scenario, ACTIONS, protocol="aodv", duration_s=steps + 1)
    envs = kind([make] * count)
    envs.reset(seed=1)
    actions = [envs.action_space.sample() for _ in range(8)]
    begun = time.perf_counter()
    for step in range(steps // count):
        envs.step(actions[step % 8])
    took = time.perf_counter() - begun
    envs.close()
    return took


def processes(scenario, steps):
    """A process per step."""
    command = [wayhop_run.binary(), "run", scenario, "--protocol", "aodv", "--duration", "1", "--no-out", "--quiet"]
    begun = time.perf_counter()
    for _ in range(steps):
        subprocess.run(command, check=True)
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    cases = {
        "simulation": stepped,
        "RoutingEnv": parallel,
        "CentralEnv": partial(vector, gymnasium.vector.SyncVectorEnv, 1),
        "2 CentralEnv, AsyncVectorEnv": partial(vector, gymnasium.vector.AsyncVectorEnv, 2),
        "process per step": processes,
    }
    rows = []
    for name, scenario in SCENARIOS.items():
        rates = {case: [] for case in cases}
        for _ in range(given.rounds):
            for case, measure in cases.items():
                steps = given.steps // 10 if measure is processes else given.steps
                rates[case].append(steps / measure(scenario, steps))
        for case, each in rates.items():
            rows.append({"scenario": name, "case": case, "steps_per_s": statistics.median(each), "all": each})
            print(f"{name}, {case}: {rows[-1]['steps_per_s']:.0f} steps/s")
    result = {"what": "steps per second", "load": os.getloadavg(), "steps": given.steps, "rows": rows}
    (ROOT / "bench/results/gym.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
