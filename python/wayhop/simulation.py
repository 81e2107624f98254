"""A simulation in this process, run step by step."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _runtime, _values
from .errors import refuse
from .scenarios import scenario_file
from .summary import Summary

if TYPE_CHECKING:
    import numpy
    from numpy.typing import DTypeLike, NDArray

    from .scenarios import Scenario


@dataclass(frozen=True)
class Step:
    """The nodes at one moment, and what happened since the previous `Step`.

    Arrays are in the order of the nodes; ``[i, j]`` is about nodes i and j. Counts are of the time since
    the previous step.
    """

    nodes: tuple[str, ...]
    """Names of the nodes."""
    time_s: float
    """Simulated time, in seconds since the start of the run."""
    position_m: NDArray[numpy.float64]
    """Positions in metres; shape (nodes, 3)."""
    up: NDArray[numpy.bool]
    """Whether each node is up: see ``outages`` and ``energy`` in the scenario."""
    queued: NDArray[numpy.uint32]
    """Frames in each node's interface queues."""
    sent: NDArray[numpy.uint32]
    """Packets that each node's applications sent."""
    delivered: NDArray[numpy.uint32]
    """Packets of each node's applications that arrived, each counted once, at its source."""
    delay_s: NDArray[numpy.float64]
    """Sum of the delays of these packets, in seconds."""
    dropped: NDArray[numpy.uint32]
    """Packets of applications that ended undelivered at each node."""
    routing_packets: NDArray[numpy.uint32]
    """Routing packets that each node sent or forwarded, as in ``totals.routing_packets``."""
    transmissions: NDArray[numpy.uint32]
    """Frames with packets that each node's MAC sent, repetitions included."""
    attempts: NDArray[numpy.uint32]
    """``[i, j]``: of these, unicast frames from i to j."""
    arrivals: NDArray[numpy.uint32]
    """``[i, j]``: unicast packets that arrived at j from i, which is then a neighbour; not the MAC's repetitions."""
    heard_s: NDArray[numpy.float64]
    """``[i, j]``: seconds since i last received a packet from j; infinite before the first."""
    signal_dbm: NDArray[numpy.float32]
    """``[i, j]``: power with which i last received a packet from j, in dBm; NaN before the first."""


class Simulation:
    """A simulation in this process: run it for a while, look at it, change it, continue.

    The same scenario, seed and changes give the same trace hash, and without changes it is that of
    `wayhop.run`. It writes no run directory. Other threads continue while it runs. Needs ``wayhop[runtime]``.

    >>> simulation = wayhop.Simulation("first.toml", seed=3, protocol="aodv")
    >>> while not simulation.run_for(1.0):
    ...     simulation.set_parameters(0, {"hello_interval_ms": 500})
    >>> simulation.finish().trace_hash

    Args:
        scenario: A scenario file, or a `Scenario`.
        seed: Seed of all random number streams.
        set: Keys of the scenario to set: ``{"radio.tx_power_dbm": 15}``.
        protocol: Routing protocol: dsr, aodv, dsdv, none, or controlled, for `set_routes`.
        profile: Protocol profile, such as ``"rfc"``.
        duration_s: Duration, in seconds of simulated time.

    Raises:
        InputError: The scenario or a value is invalid; its attributes name file, line, key and remedy.
        MissingError: ``wayhop-runtime`` is not installed.
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str] | Scenario,
        *,
        seed: int | None = None,
        set: Mapping[str, object] | None = None,
        protocol: str | None = None,
        profile: str | None = None,
        duration_s: float | None = None,
    ) -> None:
        options = {"protocol.name": protocol, "protocol.profile": profile}
        options |= {"duration_s": duration_s, "seed": seed}  # type: ignore[dict-item]
        given = {key: value for key, value in options.items() if value is not None}
        sets = _values.assignments(given) + _values.assignments(set)
        with scenario_file(scenario) as path, _runtime.failures([str(path), *sets]) as compiled:
            self._engine: _runtime.Engine = compiled.Engine(str(path), sets)
        facts = json.loads(self._engine.facts())
        self.name: str = facts["name"]
        """Name of the scenario."""
        self.seed: int = facts["seed"]
        """Seed of the run."""
        self.duration_s: float = facts["duration_ns"] / 1e9
        """Duration of the run, in seconds of simulated time."""
        self.nodes: tuple[str, ...] = tuple(facts["nodes"])
        """Names of the nodes; elsewhere, nodes are numbers from 0 in this order."""
        self.area_m: tuple[float, float, float] = tuple(facts["area_m"])
        """Size of the area, in metres."""
        self.flows: tuple[tuple[int, int | None], ...] = tuple((f["src"], f["dst"]) for f in facts["flows"])
        """Source and destination of each flow, as nodes; the destination is None if it is all nodes."""
        self.protocol: str = facts["protocol"]
        """The routing protocol."""
        self.parameters: dict[str, Any] = facts["parameters"]
        """The parameters of the protocol with which all nodes start."""
        self.warnings: tuple[str, ...] = tuple(facts["warnings"])
        """What to know of the scenario before believing its results."""
        self.time_s = 0.0
        """Simulated time, in seconds."""

    def run_until(self, time_s: float) -> bool:
        """Runs to this simulated time, or to the end if that comes first; returns whether the end is reached.

        Events at exactly ``time_s`` are included; those at 0 are the start of the nodes. After Ctrl-C
        it can be continued.
        """
        if not time_s >= 0:
            raise refuse(f"time_s: {time_s!r} is not a time", "give seconds, from 0", key="time_s")
        until = min(time_s, self.duration_s)
        with _runtime.failures():
            over = self._engine.run_until(round(until * 1e9))
        self.time_s = until
        return over

    def run_for(self, span_s: float) -> bool:
        """Runs for this simulated time from now; returns whether the end is reached."""
        return self.run_until(self.time_s + span_s)

    def observe(self) -> Step:
        """The state of all nodes, and what happened since the last call."""
        import numpy

        with _runtime.failures():
            raw = self._engine.observe()
        n = len(self.nodes)

        def array(name: str, dtype: DTypeLike, *shape: int) -> NDArray[Any]:
            return numpy.frombuffer(raw[name], dtype).reshape(shape or (n,))

        heard_ns = array("heard_ns", numpy.int64, n, n).T
        age_s = (raw["time_ns"] - heard_ns) / 1e9
        return Step(
            nodes=self.nodes,
            time_s=raw["time_ns"] / 1e9,
            position_m=array("position_m", numpy.float64, n, 3),
            up=array("up", numpy.bool),
            queued=array("queued", numpy.uint32),
            sent=array("sent", numpy.uint32),
            delivered=array("delivered", numpy.uint32),
            delay_s=array("delay_s", numpy.float64),
            dropped=array("dropped", numpy.uint32),
            routing_packets=array("routing_packets", numpy.uint32),
            transmissions=array("transmissions", numpy.uint32),
            attempts=array("attempts", numpy.uint32, n, n),
            arrivals=array("arrivals", numpy.uint32, n, n),
            heard_s=numpy.where(heard_ns < 0, numpy.inf, age_s),
            signal_dbm=numpy.where(
                heard_ns < 0, numpy.float32("nan"), array("signal_dbm", numpy.float32, n, n).T
            ),
        )

    def set_routes(self, node: int, routes: Mapping[int, int]) -> None:
        """Replaces all routes of a node: the next hop for each destination.

        Only with ``protocol="controlled"``; a destination without a route is unreachable. A node
        that is down is not told, and starts again without routes.
        """
        with _runtime.failures():
            self._engine.set_routes(node, sorted(routes.items()))

    def set_parameters(self, node: int, values: Mapping[str, object]) -> None:
        """Changes parameters of a node's protocol, as ``wayhop ctl params`` does.

        Names and units are in docs/reference/scenario.md. Some parameters can only change at the start,
        and are refused. A node that is down is not told, and starts again with the scenario's.
        """
        try:
            text = json.dumps(dict(values))
        except (TypeError, ValueError) as e:
            raise refuse(f"parameters: {e}", "give numbers, strings and booleans", key="values") from e
        with _runtime.failures():
            self._engine.set_parameters(node, text)

    def finish(self) -> Summary:
        """Ends the run, here if it is not over, and returns its summary."""
        with _runtime.failures():
            return Summary(json.loads(self._engine.finish()))
