"""Simulations in this process against the command."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy
import pytest
from conftest import FIRST, SHORT

import wayhop


def finished(**options: object) -> wayhop.Summary:
    simulation = wayhop.Simulation(FIRST, **options)  # type: ignore[arg-type]
    simulation.run_until(simulation.duration_s)
    return simulation.finish()


@pytest.mark.parametrize("protocol", ["dsr", "aodv", "dsdv", "none", "controlled"])
def test_a_run_in_steps_is_the_run_of_the_command(scratch: Path, protocol: str) -> None:
    out = scratch / f"stepped-{protocol}"
    run = wayhop.run(FIRST, seed=3, set=SHORT, protocol=protocol, out=out, progress=False)
    simulation = wayhop.Simulation(FIRST, seed=3, set=SHORT, protocol=protocol)
    steps, over = 0, False
    while not over:
        over = simulation.run_for(0.7)
        simulation.observe()
        steps += 1
    assert steps == 43 and simulation.time_s == 30
    summary = simulation.finish()
    assert summary.trace_hash == run.summary.trace_hash
    assert summary.totals == run.summary.totals


def test_what_steps_count_adds_up_to_the_summary() -> None:
    simulation = wayhop.Simulation(FIRST, seed=3, set=SHORT, protocol="aodv")
    steps, over = [], False
    while not over:
        over = simulation.run_for(1.0)
        steps.append(simulation.observe())
    totals = simulation.finish().totals
    count = {name: sum(int(getattr(s, name).sum()) for s in steps) for name in ("sent", "delivered", "dropped")}
    assert count["sent"] == totals.sent and count["delivered"] == totals.received
    assert count["dropped"] == sum(totals.drops.values()) > 0
    assert sum(int(s.routing_packets.sum()) for s in steps) == totals.routing_packets
    delay_ms = 1000 * sum(s.delay_s.sum() for s in steps) / totals.received
    assert delay_ms == pytest.approx(totals.latency_ms.mean, rel=1e-6)
    assert all((s.attempts.sum(axis=1) <= s.transmissions).all() for s in steps)
    # Who receives a packet has heard its sender in this step.
    for before, step in zip(steps, steps[1:], strict=False):
        span = step.time_s - before.time_s
        heard = step.heard_s.T[step.arrivals > 0]
        assert (heard <= span).all() and len(heard) == 0 or heard.max() <= span
    assert numpy.isnan(steps[0].signal_dbm[0, 0]) and numpy.isinf(steps[0].heard_s[0, 0])
    assert (steps[-1].signal_dbm[steps[-1].heard_s < 1] > -80).all()


CHAIN = {
    "nodes.count": 4,
    "movement": {"kind": "chain", "spacing_m": 200},
    "traffic": [{"kind": "cbr", "src": 0, "dst": 3, "rate_pps": 10, "start_s": 1}],
    "duration_s": 10,
}


def test_routes_that_are_set_carry_packets_and_the_last_ones_count(tmp_path: Path) -> None:
    scenario = wayhop.Scenario()
    for key, value in CHAIN.items():
        scenario[key] = value
    scenario.save(tmp_path / "chain.toml")
    simulation = wayhop.Simulation(scenario, protocol="controlled")
    simulation.run_until(4)
    assert simulation.observe().delivered.sum() == 0
    for node in range(3):
        simulation.set_routes(node, {3: node + 1})
    simulation.run_until(7)
    delivered = int(simulation.observe().delivered[0])
    assert 29 <= delivered <= 30
    simulation.set_routes(1, {})
    simulation.run_until(10)
    step = simulation.observe()
    assert step.delivered.sum() <= 1 and step.dropped[1] >= 29
    assert simulation.finish().totals.drops["NO_ROUTE"] >= 59


def test_parameters_change_and_wrong_ones_are_refused_by_name() -> None:
    simulation = wayhop.Simulation(FIRST, seed=3, set=SHORT, protocol="aodv")
    simulation.run_until(5)
    simulation.set_parameters(0, {"rreq_retries": simulation.parameters["rreq_retries"] + 1})
    with pytest.raises(wayhop.InputError, match="node 0: not parameters of AODV"):
        simulation.set_parameters(0, {"no_such_key": 1})
    with pytest.raises(wayhop.InputError, match="there is no node 99; give 0 to 49"):
        simulation.set_parameters(99, {})
    with pytest.raises(wayhop.InputError, match="does not know the order"):
        simulation.set_routes(0, {1: 2})
    with pytest.raises(wayhop.InputError, match="the run is at 5 s already"):
        simulation.run_until(4)
    with pytest.raises(wayhop.InputError, match="give seconds, from 0"):
        simulation.run_until(float("nan"))
    simulation.finish()
    with pytest.raises(wayhop.InputError, match="the run is finished; create another one"):
        simulation.observe()


def test_errors_of_scenarios_have_their_parts(tmp_path: Path) -> None:
    with pytest.raises(wayhop.InputError) as told:
        wayhop.Simulation(FIRST, set={"radio.tx_power": 15})
    assert told.value.key == "radio.tx_power" and "tx_power_dbm" in str(told.value.remedy)
    broken = tmp_path / "broken.toml"
    broken.write_text('nodes.count = 3\nduration_s = -1\nmovement = { kind = "chain", spacing_m = 100 }\n')
    with pytest.raises(wayhop.InputError) as told:
        wayhop.Simulation(broken)
    assert told.value.file == str(broken) and told.value.line is not None
    with pytest.raises(wayhop.InputError, match="cannot be stepped in the process"):
        wayhop.Simulation(FIRST, set={"protocol": {"python": str(FIRST.parents[1] / "examples/python/flooding.py")}})


def test_other_threads_continue_meanwhile() -> None:
    simulation = wayhop.Simulation(FIRST, seed=3, protocol="dsr")
    worker = threading.Thread(target=lambda: simulation.run_until(120))
    worker.start()
    turns = 0
    while worker.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 10
    assert simulation.time_s == 120


def test_a_missing_runtime_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wayhop_runtime", None)
    with pytest.raises(wayhop.MissingError, match=r"pip install 'wayhop\[runtime\]'"):
        wayhop.Simulation(FIRST)
