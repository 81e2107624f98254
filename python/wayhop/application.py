"""The base class of applications: programs above the routing protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .application_context import ApplicationCx
from .endpoint import Endpoint, StreamEvent
from .parameters import Parameterised
from .position import Fix


class Application(Parameterised):
    """An application at one node. Derive one class from it, and define the handlers you need.

    Wayhop creates one object per node. For reproducible runs, use only ``cx.now`` as time and only
    the random numbers of ``cx``.
    """

    name: ClassVar[str] = ""
    """Name in summaries and logs: a-z, 0-9 and -. Default: that of the file."""
    about: ClassVar[str] = ""
    """What it is, for people. Default: the first line of the class's docstring."""
    version: ClassVar[str] = ""
    """Version, for the manifest of runs."""
    notes: ClassVar[Sequence[str]] = ()
    """The remarks that it makes with ``cx.note``, at most 16: a-z, 0-9 and _."""

    def on_start(self, cx: ApplicationCx) -> None:
        """The node is up: open ports, and set the first timers."""

    def on_datagram(self, cx: ApplicationCx, port: int, sender: Endpoint, data: bytes) -> None:
        """A datagram came to a port at which the application listens."""

    def on_timer(self, cx: ApplicationCx, key: Any) -> None:
        """A timer fires that ``cx.set_timer`` set with this key."""

    def on_stream(self, cx: ApplicationCx, event: StreamEvent) -> None:
        """Something happened to a stream."""

    def on_position(self, cx: ApplicationCx, fix: Fix) -> None:
        """The node's position. In simulation, only if the routing protocol needs positions, too."""

    def on_neighbours(self, cx: ApplicationCx, neighbours: list[str]) -> None:
        """The routing protocol's neighbours, once per second where the host can ask it."""

    def on_command(self, cx: ApplicationCx, program: int, command: dict[str, Any], data: bytes) -> None:
        """A program asks for something at the application's socket. Answer with ``cx.answer``."""

    def on_resume(self, cx: ApplicationCx) -> None:
        """The node was down, and is back with its memory. Timers that were due fire now."""

    def on_restart(self) -> None:
        """The node lost its memory; ``on_start`` follows if it comes back.

        Without this method a new object takes the place of this one then, and counts from 0.
        """

    def on_end(self, cx: ApplicationCx, in_order: bool) -> None:
        """The application ends. Unless it ends in order, nothing more is sent."""

    def figures(self) -> dict[str, float | None]:
        """What it has counted: numbers by name (a-z, 0-9 and _, with the unit at the end).

        None and NaN stand for figures that are undefined, which are left out.
        """
        return {}
