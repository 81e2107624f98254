"""Wayhop in Python: run and analyse simulations, and write routing protocols and applications.

To run simulations from a script or a notebook, ``pip install wayhop`` (docs/python.md):

    run = wayhop.run("first.toml", seed=3)
    run.summary.totals.delivery_ratio

To write a protocol, derive one class from `Protocol` in a file of its own, and run it:

    wayhop run scenario.toml --protocol ./mine.py

An application is a class derived from `Application`. The tutorial of both:
docs/tutorials/python-protocol.md. For them Wayhop brings this package with it: nothing has to be
installed, and no other package is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .application import Application
from .application_context import ApplicationCx
from .context import ANY_INTERFACE, BROADCAST, CONTROL, DATA, HIGH, Cx
from .endpoint import Endpoint, Stream, StreamEnd, StreamEvent, StreamEventKind
from .packet import UDP, Carrier, Packet, ip_protocol, udp
from .parameters import address_parameter, parameter
from .position import Fix
from .protocol import ANY, DropReason, LinkChange, Protocol, RouteUse, Rx, TxReport, TxStatus

if TYPE_CHECKING:
    from . import gym as gym
    from . import plot as plot
    from . import statistics as statistics
    from .errors import InputError as InputError
    from .errors import MissingError as MissingError
    from .errors import Problem as Problem
    from .errors import RunError as RunError
    from .errors import WayhopError as WayhopError
    from .notebook import Studio as Studio
    from .notebook import studio as studio
    from .runs import Run as Run
    from .runs import decode as decode
    from .runs import load as load
    from .runs import run as run
    from .scenarios import Scenario as Scenario
    from .simulation import Simulation as Simulation
    from .simulation import Step as Step
    from .summary import Summary as Summary
    from .sweeps import Sweep as Sweep
    from .sweeps import load_sweep as load_sweep
    from .sweeps import sweep as sweep

_LATER = {
    "InputError": "errors",
    "MissingError": "errors",
    "Problem": "errors",
    "Run": "runs",
    "RunError": "errors",
    "Scenario": "scenarios",
    "Simulation": "simulation",
    "Step": "simulation",
    "Studio": "notebook",
    "Summary": "summary",
    "Sweep": "sweeps",
    "WayhopError": "errors",
    "decode": "runs",
    "gym": "gym",
    "load": "runs",
    "load_sweep": "sweeps",
    "plot": "plot",
    "run": "runs",
    "statistics": "statistics",
    "studio": "notebook",
    "sweep": "sweeps",
}
"""Names and their modules, which are imported when they are used: an interpreter of a protocol has none of them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_LATER[name]}")
    return module if name == _LATER[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


# Without the names above: `from wayhop import *` in a protocol works in an interpreter that has none of their modules.
__all__ = [
    "ANY",
    "ANY_INTERFACE",
    "BROADCAST",
    "CONTROL",
    "DATA",
    "HIGH",
    "UDP",
    "Application",
    "ApplicationCx",
    "Carrier",
    "Cx",
    "DropReason",
    "Endpoint",
    "Fix",
    "LinkChange",
    "Packet",
    "Protocol",
    "RouteUse",
    "Rx",
    "Stream",
    "StreamEnd",
    "StreamEvent",
    "StreamEventKind",
    "TxReport",
    "TxStatus",
    "address_parameter",
    "ip_protocol",
    "parameter",
    "udp",
]
