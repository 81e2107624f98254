"""Learning environments against the checks of their libraries, and against the command."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy
import pytest
from conftest import FIRST, ROOT
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import wayhop
from wayhop.gym import CentralEnv, NextHops, Parameters, RoutingEnv

SMALL = {"nodes.count": 8, "duration_s": 12, "area": {"x_m": 500, "y_m": 300}, "traffic.0.connections": 3}
HELLO = Parameters({"rreq_retries": (0, 4), "local_repair": ["off", "within_ttl"]})
MODES: list[dict[str, Any]] = [
    {"actions": NextHops([0, 5])},
    {"actions": HELLO, "protocol": "aodv"},
]
Make = Callable[[], Any]


def made(kind: type, options: dict[str, Any]) -> Make:
    return partial(kind, FIRST, **{"step_s": 1.5, "warm_up_s": 2.0, "set": SMALL, **options})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", MODES)
def test_pettingzoo_accepts_it(options: dict[str, Any]) -> None:
    make = made(RoutingEnv, options)
    parallel_api_test(make(), num_cycles=40)
    parallel_seed_test(make, num_cycles=40)


@pytest.mark.parametrize("options", MODES)
def test_gymnasium_accepts_it(options: dict[str, Any]) -> None:
    check_env(made(CentralEnv, options)(), skip_render_check=True)


def run(env: RoutingEnv, seed: int, act: Callable[[RoutingEnv], dict[str, Any]]) -> wayhop.Summary:
    env.reset(seed=seed)
    while env.agents:
        *_, infos = env.step(act(env))
    assert env.summary is not None
    assert all(info == {"trace_hash": env.summary.trace_hash} for info in infos.values())
    return env.summary


def random_actions(env: RoutingEnv) -> dict[str, Any]:
    return {agent: env.action_space(agent).sample() for agent in env.agents}


@pytest.mark.parametrize("options", MODES)
def test_the_same_seed_and_actions_give_the_same_run(options: dict[str, Any]) -> None:
    hashes = []
    for seed in (5, 5, 6):
        env = made(RoutingEnv, options)()
        for number, agent in enumerate(env.possible_agents):
            env.action_space(agent).seed(number)
        hashes.append(run(env, seed, random_actions).trace_hash)
    assert hashes[0] == hashes[1] != hashes[2]


def test_an_episode_without_a_seed_follows_from_the_one_before() -> None:
    def hashes(env: RoutingEnv) -> list[str]:
        first = run(env, 5, RoutingEnv.neutral_actions).trace_hash
        env.reset()
        while env.agents:
            env.step({})
        assert env.summary is not None
        return [first, env.summary.trace_hash]

    first, second = (hashes(made(RoutingEnv, MODES[1])()) for _ in range(2))
    assert first == second and first[0] != first[1]


@pytest.mark.parametrize(("options", "protocol"), [(MODES[0], "controlled"), (MODES[1], "aodv")])
def test_agents_that_change_nothing_give_the_run_of_the_command(
    scratch: Path, options: dict[str, Any], protocol: str
) -> None:
    out = scratch / f"neutral-{protocol}"
    expected = wayhop.run(FIRST, seed=9, set=SMALL, protocol=protocol, out=out, progress=False).summary
    summary = run(made(RoutingEnv, options)(), 9, RoutingEnv.neutral_actions)
    assert summary.trace_hash == expected.trace_hash
    central = made(CentralEnv, options)()
    central.reset(seed=9)
    over = False
    while not over:
        *_, over, info = central.step(central.neutral_action())
    assert info == {"trace_hash": expected.trace_hash}


def test_routes_of_agents_are_those_of_a_scenario_with_the_same_static_routes(tmp_path: Path) -> None:
    """At time 0 both tables are the same, so the runs are, as long as no link breaks."""
    chain = tmp_path / "chain.toml"
    chain.write_text(
        'nodes.count = 4\nduration_s = 8\nmovement = { kind = "chain", spacing_m = 200 }\n'
        '[[traffic]]\nkind = "cbr"\nsrc = 0\ndst = 3\nrate_pps = 10\nstart_s = 1\n'
    )
    tables = [{3: 1}, {3: 2}, {3: 3}, {}]
    env = RoutingEnv(chain, NextHops([3]))
    hops = {agent: numpy.array([tables[i].get(3, i)]) for i, agent in enumerate(env.possible_agents)}
    summary = run(env, 1, lambda _: hops)
    routes = [
        {"node": i, "destination": f"10.0.0.{3 + 1}", "via": by}
        for i, table in enumerate(tables)
        for by in table.values()
    ]
    expected = wayhop.run(chain, seed=1, protocol="controlled", set={"routes": routes}, progress=False)
    # The last packet is on its way when the run ends.
    assert summary.totals.dropped == 0 and summary.totals.received > 60
    assert summary.trace_hash == expected.summary.trace_hash


def test_rewards_and_observations_are_the_users_and_the_nodes_own() -> None:
    def reward(step: wayhop.Step) -> dict[str, float]:
        return dict(zip(step.nodes, range(len(step.nodes)), strict=True))

    env = made(RoutingEnv, {**MODES[0], "reward": reward})()
    seen, _ = env.reset(seed=1)
    own = {agent: tuple(seen[agent]["position_m"]) for agent in env.agents}
    assert len(set(own.values())) == len(own)
    _, rewards, *_ = env.step({})
    assert list(rewards.values()) == list(range(8))
    central = made(CentralEnv, {**MODES[0], "reward": reward})()
    all_seen, _ = central.reset(seed=1)
    assert [tuple(row) for row in all_seen["position_m"]] == list(own.values())
    assert central.step(central.action_space.sample())[1] == sum(range(8))


@pytest.mark.parametrize("vector", [gymnasium.vector.SyncVectorEnv, gymnasium.vector.AsyncVectorEnv])
def test_vectors_of_environments_run_as_each_alone(vector: Any) -> None:
    make = made(CentralEnv, MODES[1])
    several = vector([make, make])
    several.reset(seed=[3, 4])
    several.action_space.seed(1)
    actions = [several.action_space.sample() for _ in range(3)]
    rewards = numpy.array([several.step(action)[1] for action in actions])
    several.close()
    for place, seed in enumerate((3, 4)):
        alone = make()
        alone.reset(seed=seed)
        for number, action in enumerate(actions):
            own = {name: values[place] for name, values in action.items()}
            assert alone.step(own)[1] == rewards[number, place]


def test_what_cannot_work_is_refused_with_a_remedy() -> None:
    for options, message in [
        ({"actions": NextHops([0, 99])}, "give different numbers from 0 to 7"),
        ({"actions": NextHops(), "protocol": "aodv"}, "let agents choose Parameters"),
        ({"actions": Parameters({"no_such": (0, 1)})}, "its parameters are"),
        ({"actions": Parameters({"rreq_retries": (7, 9)}), "protocol": "aodv"}, "widen the range"),
        ({"actions": Parameters({"hello": ["never"]}), "protocol": "aodv"}, "is not one of"),
        ({"step_s": 0.0}, "step_s"),
        ({"warm_up_s": 12.0}, "the run ends at 12"),
    ]:
        with pytest.raises(wayhop.InputError, match=message):
            made(RoutingEnv, options)()
    env = made(RoutingEnv, MODES[0])()
    with pytest.raises(wayhop.InputError, match=r"call reset\(\) first"):
        env.step({})
    env.reset(seed=1)
    with pytest.raises(wayhop.InputError, match="element of the action space"):
        env.step({env.agents[0]: [1, 2, 3]})
    with pytest.raises(wayhop.InputError, match="there is no node 50"):
        env.step({env.agents[0]: [50, 50]})
    with pytest.raises(wayhop.InputError, match="keep the number and names of nodes"):
        env.reset(options={"set": {"nodes.count": 9}})


def test_the_example_learns() -> None:
    """A short training beats none; docs/gym.md has the whole one."""
    script = ROOT / "examples/gym/q_routing.py"
    done = subprocess.run(
        [sys.executable, script, "--episodes", "8", "--seeds", "3"], capture_output=True, text=True, check=True
    )
    gain = next(line for line in done.stdout.splitlines() if line.startswith("trained minus untrained"))
    assert float(gain.split()[3]) > 20, done.stdout


def test_the_extra_asks_for_the_runtime_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert project["optional-dependencies"]["runtime"] == [f"wayhop-runtime=={version}"]
