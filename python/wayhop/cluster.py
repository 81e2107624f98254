"""A sweep on many machines, by any `concurrent.futures.Executor`.

The folder of the sweep is the state: chunks that are done are files in it, and a coordinator that
starts again gives out what is left. Workers need this package and the same version of the `wayhop`
command, but no shared folder.

    from concurrent.futures import ProcessPoolExecutor
    from wayhop import cluster

    if __name__ == "__main__":
        with ProcessPoolExecutor() as executor:
            folder = cluster.run(["plan.toml", "--seeds", "100"], executor)

The guide: docs/concepts/clusters.md.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import os
import random
import secrets
import subprocess
import sys
import time
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, TextIO, TypedDict, Union

from . import _command
from .cluster_engines import ClusterError, Engine, MissingPackage, named, of_executor
from .cluster_worker import CHUNKS, MARK, Report, Task, version, work

__all__ = ["ClusterError", "MissingPackage", "run"]

# Work of a chunk, seconds: long against the start of a process, short enough to lose. Towards the
# end of a sweep chunks become shorter, so that all workers end at about the same time.
_CHUNK_S = 20.0
_SHORTEST_CHUNK_S = 1.0
# What a chunk costs besides its runs, seconds: two processes, and the way to the worker and back.
_START_S = 0.05
# As long as only the estimate is known.
_FIRST_CHUNK_S = 5.0
# Chunks for each slot among which the work left is divided.
_SHARES = 3
# A chunk that was lost so often is halved, to find the run that kills its worker.
_HALVED_AFTER = 3
# A single run that was lost so often is given up.
_GIVEN_UP_AFTER = 5
# Unusable answers in a row, without any chunk done, after which the sweep ends.
_FUTILE = 12
# Failures of the engine itself in a row, without any chunk done, after which the sweep ends.
_FAILURES = 4
# Parts of the names of exceptions by which engines tell that a worker died.
_DEATHS = ("Killed", "Broken", "Terminated", "Closed", "Lost", "Timeout", "Cancelled")
# A chunk that takes longer than so many times the expected time is given to another worker, too,
# once there is nothing else to do.
_LATE = 3.0
_LATE_S = 60.0
_LINE_EVERY_S = 30.0


class _Prepared(TypedDict):
    """What `wayhop sweep --prepare` prints."""

    dir: str
    runs: int
    done: int
    left: list[str]
    run_s: Optional[float]
    files: list[str]
    recorded: bool


@dataclass(eq=False)
class _Chunk:
    runs: list[str]
    lost: int = 0
    is_done: bool = False
    name: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256("\n".join(self.runs).encode()).hexdigest()
        self.name = f"runs-{digest[:12]}"


@dataclass(eq=False)
class _Attempt:
    chunk: _Chunk
    since: float
    is_second: bool = False


def run(
    arguments: Sequence[str],
    executor: Union[Executor, Callable[[], Executor]],
    *,
    slots: Optional[int] = None,
    progress: Optional[Callable[[int, int], None]] = None,
    quiet: bool = False,
    program: Optional[str] = None,
) -> Path:
    """Runs a sweep on the workers of an executor, and returns its folder.

    `arguments` are those of `wayhop sweep`: a plan and options. `executor` is an Executor, or a
    function that makes one and is called again if it breaks. `slots` is the number of chunks that
    run at a time, if the executor does not say. `progress` is called with the numbers of runs that
    are done and of all; without it, lines on standard error say so, unless `quiet`. `program` is
    the `wayhop` command.
    """
    program = program or str(_command.path())
    prepared = _prepare(program, arguments)
    folder = Path(prepared["dir"])
    engine = of_executor(executor, slots)
    try:
        _coordinate(program, prepared, engine, progress, quiet)
    finally:
        engine.close()
    _call(program, ["sweep", str(folder / "plan.toml"), "--out", str(folder), "--merge", "--quiet"])
    return folder


def _call(program: str, arguments: Sequence[str]) -> str:
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise ClusterError(done.stderr.strip().removeprefix("wayhop: "))
    if done.stderr:
        sys.stderr.write(done.stderr)
    return done.stdout


def _prepare(program: str, arguments: Sequence[str]) -> _Prepared:
    prepared: _Prepared = json.loads(_call(program, ["sweep", *arguments, "--prepare"]))
    return prepared


def _coordinate(
    program: str,
    prepared: _Prepared,
    engine: Engine,
    progress: Optional[Callable[[int, int], None]],
    quiet: bool,
) -> None:
    with _folder(Path(prepared["dir"])) as mark:
        show = progress or _Lines(None if quiet else sys.stderr).show
        _Coordinator(program, prepared, engine, mark, show, quiet).run()


@contextmanager
def _folder(folder: Path) -> Iterator[str]:
    """Marks the folder of a sweep as this coordinator's, for as long as it works."""
    chunks = folder / CHUNKS
    chunks.mkdir(exist_ok=True)
    mark = secrets.token_hex(16)
    path = chunks / MARK
    with open(path, "a+") as file:
        if not _locked(file):
            raise ClusterError(f"{folder}: another coordinator runs this sweep; wait for it, or choose another --out")
        file.truncate(0)
        file.write(mark)
        file.flush()
        try:
            yield mark
        finally:
            path.unlink(missing_ok=True)


def _locked(file: TextIO) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows has other locks.
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # Some file systems have no locks.
        return True
    return True


def _bundle(prepared: _Prepared) -> bytes:
    """The plan and its files by their paths from `/`, for workers that do not share them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in [str(Path(prepared["dir"]) / "plan.toml"), *prepared["files"]]:
            path = Path(os.path.normpath(name))
            # The same bytes each time: workers unpack each archive once.
            entry = zipfile.ZipInfo("/".join(path.parts[1:]))
            entry.compress_type = zipfile.ZIP_DEFLATED
            try:
                archive.writestr(entry, path.read_bytes())
            except OSError as e:
                raise ClusterError(f"cannot read {path} ({e}); check the name in the scenario") from e
    return buffer.getvalue()


class _Coordinator:
    def __init__(
        self,
        program: str,
        prepared: _Prepared,
        engine: Engine,
        mark: str,
        show: Callable[[int, int], None],
        quiet: bool,
    ) -> None:
        self._engine = engine
        self._show = show
        self._quiet = quiet
        self._folder = Path(prepared["dir"])
        files = _bundle(prepared)
        self._task: Task = {
            "name": "",
            "folder": prepared["dir"],
            "mark": mark,
            "version": version(program),
            "runs": [],
            "files": files,
            "digest": hashlib.sha256(files).hexdigest(),
            "recorded": prepared["recorded"],
        }
        self._runs = prepared["runs"]
        self._done = prepared["done"]
        # Runs of one protocol follow each other in a plan: shuffled, chunks take similar times.
        self._left = prepared["left"]
        random.Random(0).shuffle(self._left)
        self._again: deque[_Chunk] = deque()
        self._active: dict[Future[Report], _Attempt] = {}
        self._begun = time.monotonic()
        # Chunks that were lost, as far as the engine tells; and whether the runs of a lost one are lost.
        self._lost_chunks = 0
        self._is_shared = True
        # Time on one processor of the runs that workers made, and their number.
        self._run_s = prepared["run_s"] or 1.0
        self._worked_s = 0.0
        self._worked = 0
        self._futile = 0
        self._failures = 0
        self._refused: set[str] = set()

    def run(self) -> None:
        self._show(self._done, self._runs)
        try:
            while self._left or self._again or any(not a.chunk.is_done for a in self._active.values()):
                self._fill()
                finished, _ = wait(self._active, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in finished:
                    self._take(future, self._active.pop(future))
                if not self._engine.is_alive():
                    self._restart("its scheduler is gone or was restarted")
        finally:
            for future in self._active:
                future.cancel()

    def _fill(self) -> None:
        slots = self._engine.slots()
        while len(self._active) < slots + slots // 2 + 1:
            chunk = self._next(slots)
            if chunk is None:
                break
            self._submit(chunk, is_second=False)
        if len(self._active) < slots and not self._left and not self._again:
            self._hedge(slots)

    def _next(self, slots: int) -> Optional[_Chunk]:
        if self._again:
            return self._again.popleft()
        if not self._left:
            return None
        share_s = len(self._left) * self._run_s / (_SHARES * slots)
        longest_s = self._longest_s(slots) if self._worked else _FIRST_CHUNK_S
        seconds = max(min(share_s, longest_s), _SHORTEST_CHUNK_S)
        number = max(1, round(seconds / self._run_s))
        runs, self._left = self._left[:number], self._left[number:]
        return _Chunk(runs)

    def _longest_s(self, slots: int) -> float:
        """The length of chunks that costs least, seconds, where workers die and nothing of their chunks
        is kept: J. W. Young, "A first order approximation to the optimum checkpoint interval",
        Communications of the ACM 17 (9), 1974."""
        deaths = self._lost_chunks + self._engine.deaths()
        if self._is_shared or deaths == 0:
            return _CHUNK_S
        lifetime_s = (time.monotonic() - self._begun) * slots / deaths
        return min(math.sqrt(2 * _START_S * lifetime_s), _CHUNK_S)

    def _hedge(self, slots: int) -> None:
        """Gives late chunks to a second worker: the first may hang, or be unreachable."""
        now = time.monotonic()
        twice = {a.chunk.name for a in self._active.values() if a.is_second}
        for attempt in list(self._active.values()):
            expected_s = len(attempt.chunk.runs) * self._run_s
            is_late = now - attempt.since > max(_LATE * expected_s, _LATE_S)
            if is_late and not attempt.chunk.is_done and attempt.chunk.name not in twice:
                self._tell(f"a chunk of {len(attempt.chunk.runs)} runs is late; another worker gets it, too")
                self._submit(attempt.chunk, is_second=True)
                twice.add(attempt.chunk.name)
            if len(self._active) >= slots:
                return

    def _submit(self, chunk: _Chunk, is_second: bool) -> None:
        task: Task = {**self._task, "name": chunk.name, "runs": chunk.runs}
        try:
            future = self._engine.executor.submit(work, task)
        except Exception as e:  # Engines raise their own kinds.
            self._again.append(chunk)
            self._restart(_words(e))
            return
        self._active[future] = _Attempt(chunk, time.monotonic(), is_second)

    def _restart(self, why: str) -> None:
        self._tell(f"starting again with the engine: {why}")
        lost = {id(a.chunk): a.chunk for a in self._active.values() if not a.chunk.is_done}
        self._active.clear()
        self._again.extend(rest for chunk in lost.values() if (rest := self._rest(chunk)))
        self._engine.restart(why)

    def _take(self, future: Future[Report], attempt: _Attempt) -> None:
        chunk = attempt.chunk
        if chunk.is_done:
            return
        try:
            report = future.result()
        except CancelledError:
            self._again.appendleft(chunk)
            return
        except ClusterError:
            raise
        except Exception as e:  # Engines raise their own kinds.
            if any(word in type(e).__name__ for word in _DEATHS):
                self._lost(chunk, _words(e))
            else:
                self._strange(chunk, _words(e))
            return
        if report["status"] == "done":
            self._finish(chunk, report)
        elif report["status"] == "failed":
            raise ClusterError(f"{report['worker']}: {report['message'].removeprefix('wayhop: ')}")
        elif report["status"] == "lost":
            self._lost(chunk, f"{report['worker']}: {report['message']}")
        else:
            self._refuse(chunk, report)

    def _finish(self, chunk: _Chunk, report: Report) -> None:
        self._is_shared = report["lines"] is None
        if report["lines"] is not None:
            lines = zlib.decompress(report["lines"])
            ids = {json.loads(line)["id"] for line in lines.splitlines()}
            if ids != {run.split(" ")[1] for run in chunk.runs}:
                self._lost(chunk, f"{report['worker']} did not return the runs that it was given")
                return
            self._save(self._folder / CHUNKS / f"{chunk.name}.{report['worker']}.jsonl", lines)
        chunk.is_done = True
        self._worked_s += report["seconds"]
        self._worked += len(chunk.runs)
        self._run_s = self._worked_s / self._worked
        self._made(len(chunk.runs))

    def _made(self, runs: int) -> None:
        self._futile = 0
        self._failures = 0
        self._done += runs
        self._show(self._done, self._runs)

    def _rest(self, chunk: _Chunk) -> Optional[_Chunk]:
        """A lost chunk without the runs that its worker wrote into the shared folder; None if it wrote all."""
        if any(a.chunk is chunk for a in self._active.values()):
            return chunk  # Another worker has it whole.
        finished = self._written(chunk)
        rest = [run for run in chunk.runs if run.split(" ")[1] not in finished]
        if len(rest) == len(chunk.runs):
            return chunk
        chunk.is_done = True
        self._made(len(chunk.runs) - len(rest))
        return _Chunk(rest) if rest else None

    def _written(self, chunk: _Chunk) -> set[str]:
        """The ids of the runs that workers wrote of a chunk."""
        ids = set()
        for path in (self._folder / CHUNKS).glob(f"{chunk.name}.*.jsonl"):
            with suppress(OSError), open(path, "rb") as lines:
                for line in lines:
                    # The last one is torn if the worker was killed while it wrote; the merge does not read it either.
                    with suppress(ValueError, KeyError, TypeError):
                        ids.add(json.loads(line)["id"])
        return ids

    def _save(self, path: Path, lines: bytes) -> None:
        part = path.with_suffix(".part")
        try:
            with open(part, "wb") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
            part.rename(path)
        except OSError as e:
            part.unlink(missing_ok=True)
            raise ClusterError(f"cannot write {path}: {e}; free some space and run the sweep again to resume") from e

    def _lost(self, lost: _Chunk, why: str) -> None:
        self._lost_chunks += 1
        chunk = self._rest(lost)
        if chunk is None:
            return
        chunk.lost += 1
        number = len(chunk.runs)
        self._tell(f"a chunk was lost, and its {number} unfinished runs are given to another worker ({why})")
        if number > 1 and chunk.lost >= _HALVED_AFTER:
            half = number // 2
            self._again.extend([_Chunk(chunk.runs[:half], chunk.lost - 1), _Chunk(chunk.runs[half:], chunk.lost - 1)])
        elif number == 1 and chunk.lost >= _GIVEN_UP_AFTER:
            place = chunk.runs[0].split(" ")[0]
            raise ClusterError(
                f"run {place} of the plan was lost {chunk.lost} times; perhaps its workers need more memory ({why})"
            )
        else:
            self._again.appendleft(chunk)

    def _strange(self, chunk: _Chunk, why: str) -> None:
        """A failure that is neither a run's nor the death of a worker."""
        self._again.append(chunk)
        self._failures += 1
        if self._failures >= _FAILURES:
            raise ClusterError(
                f"the engine cannot run chunks: {why}; install the same package wayhop for the Python of the scheduler and "
                "of all workers"
            )

    def _refuse(self, chunk: _Chunk, report: Report) -> None:
        self._again.append(chunk)
        self._futile += 1
        if report["address"]:
            self._engine.avoid(report["address"])
        if report["worker"] not in self._refused:
            self._refused.add(report["worker"])
            self._tell(f"the worker {report['worker']} is not used now: {report['message']}")
        if self._futile >= max(_FUTILE, 2 * self._engine.slots()) and self._worked == 0:
            raise ClusterError(f"no worker can run the plan; the last answer is from {report['worker']}: {report['message']}")

    def _tell(self, text: str) -> None:
        if not self._quiet:
            print(f"wayhop: {text}", file=sys.stderr, flush=True)


def _words(e: BaseException) -> str:
    text = " ".join(str(e).split())
    return f"{type(e).__name__}: {text[:300]}" if text else type(e).__name__


class _Lines:
    """Progress as lines: one per 10 % or per 30 s, with the time left."""

    def __init__(self, to: Optional[TextIO]) -> None:
        self._to = to
        self._begun: Optional[tuple[float, int]] = None
        self._shown = 0.0
        self._next = 0

    def show(self, done: int, runs: int) -> None:
        now = time.monotonic()
        if self._begun is None:
            self._begun = (now, done)
            self._shown = now
            return
        began, before = self._begun
        is_due = done >= self._next or done == runs or now - self._shown >= _LINE_EVERY_S
        if self._to is None or not is_due or done <= before:
            return
        step = max(runs // 10, 1)
        self._next = done - done % step + step
        self._shown = now
        left_s = (now - began) * (runs - done) / (done - before)
        left = f", about {_duration(left_s)} left" if done < runs else ""
        print(f"{done} of {runs} runs{left}", file=self._to, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _main(arguments: Optional[Sequence[str]] = None) -> int:
    """The coordinator of `wayhop sweep --on`, which merges the results afterwards."""
    parser = argparse.ArgumentParser(prog="python3 -m wayhop.cluster", description="Called by: wayhop sweep PLAN --on ENGINE")
    parser.add_argument("--on", required=True, metavar="ENGINE")
    parser.add_argument("--folder", required=True, metavar="DIR", help="folder of the sweep, with its plan.toml")
    parser.add_argument("--wayhop", required=True, metavar="PROGRAM")
    parser.add_argument("--jobs", type=int, metavar="N")
    parser.add_argument("--quiet", action="store_true")
    a = parser.parse_args(arguments)
    folder: str = a.folder
    try:
        plan = [str(Path(folder) / "plan.toml"), "--out", folder, "--quiet"]
        prepared = _prepare(a.wayhop, plan)
        if prepared["left"]:
            engine = named(a.on, a.jobs)
            try:
                _coordinate(a.wayhop, prepared, engine, None, a.quiet)
            finally:
                engine.close()
    except ClusterError as e:
        print(f"wayhop: {e}", file=sys.stderr)
        return 2 if isinstance(e, MissingPackage) else 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(_main())
