"""The studio from a notebook."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
import webbrowser
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from . import _command
from .errors import failure

if TYPE_CHECKING:
    from .runs import Run


class Studio:
    """A running studio. It stops with ``stop()``, and at the latest with the interpreter."""

    def __init__(self, place: Path) -> None:
        arguments = ["studio", str(place), "--no-browser"]
        self._process = subprocess.Popen(
            [str(_command.path()), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self.url = self._process.stdout.readline().strip()
        """The address of its page, on this machine."""
        if not self.url:
            said = self._process.stderr.read().splitlines()
            raise failure(said, self._process.wait(), arguments)
        # So that it never waits for someone to read what it prints.
        threading.Thread(target=self._process.stderr.read, daemon=True).start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """Stops it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT if os.name != "nt" else signal.SIGTERM)
            self._process.wait()
        atexit.unregister(self.stop)

    def __repr__(self) -> str:
        return f"Studio({self.url})"

    def _repr_html_(self) -> str:
        where = escape(self.url, quote=True)
        return f'<a href="{where}" target="_blank" rel="noopener">Open the studio: {where}</a>'


def studio(run: Run | str | os.PathLike[str], *, open_browser: bool = False) -> Studio:
    """Starts the studio on a run, a folder of runs or a scenario.

    A notebook shows a link to its page. For a notebook on another machine, forward the port:
    ``ssh -L PORT:localhost:PORT HOST``.
    """
    started = Studio(Path(run if isinstance(run, (str, os.PathLike)) else run.directory))
    if open_browser:
        webbrowser.open(started.url)
    return started
