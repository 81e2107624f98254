"""One chunk of a sweep, as a worker runs it: in a process of the `wayhop` command.

Tasks and reports are plain dictionaries, so that a coordinator can talk to workers with another
version of this package, and refuse them by name.
"""

from __future__ import annotations

import errno
import io
import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from pathlib import Path
from typing import Literal, Optional, TypedDict

from . import _command, scratch
from .errors import MissingError

# The file in a sweep's folder by which workers see whether they share the folder.
MARK = "coordinator"
CHUNKS = "chunks"

# A worker that cannot work answers at once, and would take all chunks: it waits, seconds.
_FIRST_PENALTY_S = 2.0
_LONGEST_PENALTY_S = 60.0

Status = Literal["done", "unusable", "lost", "failed"]


class Task(TypedDict):
    """A chunk for a worker."""

    name: str
    folder: str
    """Absolute path of the sweep's folder at the coordinator."""
    mark: str
    """What the file `chunks/coordinator` contains if the folder is shared."""
    version: str
    """What `wayhop --version` prints at the coordinator."""
    runs: list[str]
    """Lines of `left` of `wayhop sweep --prepare`: number in the plan and id."""
    files: bytes
    """Zip archive with the plan and the files that it needs, for workers without the folder."""
    digest: str
    """Of `files`."""
    recorded: bool
    """Whether runs write run directories, which needs the folder."""


class Report(TypedDict):
    """What became of a task."""

    status: Status
    """`unusable`: this worker cannot work; `lost`: the process was killed; `failed`: a run fails."""
    message: str
    worker: str
    """Host and process."""
    address: str
    """Of the Dask worker, or empty."""
    seconds: float
    lines: Optional[bytes]
    """The results, compressed with zlib; None if they are in the folder."""


class _Unusable(Exception):
    """This worker cannot work."""


_trees: dict[str, Path] = {}
_lock = threading.Lock()
_penalty_s = _FIRST_PENALTY_S


def work(task: Task) -> Report:
    """Runs a chunk."""
    global _penalty_s
    begun = time.monotonic()
    worker = f"{socket.gethostname()}-{os.getpid()}"
    status: Status = "done"
    message = ""
    lines: Optional[bytes] = None
    try:
        status, message, lines = _run(task, worker)
    except _Unusable as e:
        status, message = "unusable", str(e)
    except OSError as e:
        status = "unusable"
        message = f"the disk is full: {e}" if e.errno in (errno.ENOSPC, errno.EDQUOT) else str(e)
    seconds = time.monotonic() - begun
    if status == "unusable":
        time.sleep(_penalty_s)
        _penalty_s = min(2 * _penalty_s, _LONGEST_PENALTY_S)
    elif status == "done":
        _penalty_s = _FIRST_PENALTY_S
    return {
        "status": status,
        "message": message,
        "worker": worker,
        "address": _address(),
        "seconds": seconds,
        "lines": lines,
    }


def _address() -> str:
    dask = sys.modules.get("distributed")
    try:
        return str(dask.get_worker().address) if dask else ""
    except ValueError:  # Another executor's process that has Dask.
        return ""


def version(program: str) -> str:
    """What a command says of its version."""
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return told.stdout.strip()


def _run(task: Task, worker: str) -> tuple[Status, str, Optional[bytes]]:
    try:
        program = str(_command.path())
        own = version(program)
    except (MissingError, OSError, subprocess.CalledProcessError) as e:
        raise _Unusable(str(e)) from e
    if own != task["version"]:
        raise _Unusable(f"{own} is installed, not {task['version']}; install the same version")
    folder = Path(task["folder"])
    is_shared = _is_shared(folder / CHUNKS / MARK, task["mark"])
    if is_shared:
        thread = threading.get_ident()
        results = str(folder / CHUNKS / f"{task['name']}.{worker}-{thread}.jsonl")
    elif task["recorded"]:
        raise _Unusable(f"{folder} is not there, and run directories need a folder that all machines share")
    else:
        results = "-"
        root = _tree(task)
        folder = root.joinpath(*folder.parts[1:])
    arguments = ["sweep", str(folder / "plan.toml"), "--out", str(folder), "--chunk", "-"]
    arguments += ["--results", results, "--jobs", "1", "--quiet"]
    process = subprocess.Popen(
        [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, told = _exchange(process, task["runs"])
    return _outcome(process.returncode, out, told, is_shared)


def _exchange(process: subprocess.Popen[bytes], runs: list[str]) -> tuple[bytes, str]:
    """Gives the runs to the process, and returns its output.

    Its input stays open after the list: when it closes, as by the death of this worker, the process
    stops.
    """
    assert process.stdin and process.stdout and process.stderr
    told: list[bytes] = []
    errors = process.stderr
    reader = threading.Thread(target=lambda: told.append(errors.read()), daemon=True)
    reader.start()
    try:
        process.stdin.write(("\n".join(runs) + "\n\n").encode())
        process.stdin.flush()
    except BrokenPipeError:
        pass  # It ended before; its message says why.
    out = process.stdout.read()
    process.wait()
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    reader.join()
    process.stdout.close()
    errors.close()
    return out, b"".join(told).decode(errors="replace").strip()


def _outcome(code: int, out: bytes, told: str, is_shared: bool) -> tuple[Status, str, Optional[bytes]]:
    if code == 0:
        return "done", "", None if is_shared else zlib.compress(out, 1)
    if any(f"(os error {n})" in told for n in (errno.ENOSPC, errno.EDQUOT)):
        raise _Unusable(f"the disk is full: {told}")
    if " has the id " in told:
        raise _Unusable(told)
    if code < 0 or code == 130:
        return "lost", f"the process ended by signal {-code}" if code < 0 else "interrupted", None
    return "failed", told, None


def _is_shared(mark: Path, text: str) -> bool:
    try:
        return mark.read_text() == text
    except OSError:
        return False


def _tree(task: Task) -> Path:
    """Unpacks the plan and its files, once in a process, and returns the folder that stands for `/`."""
    with _lock:
        known = _trees.get(task["digest"])
        if known is None:
            known = scratch.folder()
            with zipfile.ZipFile(io.BytesIO(task["files"])) as archive:
                archive.extractall(known)
            _trees[task["digest"]] = known
        return known
