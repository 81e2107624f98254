"""Engines that run the chunks of a sweep: any Executor, Dask, and Dask's workers as SLURM jobs."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Optional, Union

# How long a scheduler may be away, seconds.
PATIENCE_S = 600.0
# How long a worker that cannot work gets no chunks, seconds.
_AVOIDED_S = 120.0
# How often the scheduler is asked whether it lives and how many workers it has, seconds.
_ASK_EVERY_S = 5.0
# After so many answers that did not come the scheduler is gone.
_MISSED = 3


class ClusterError(RuntimeError):
    """A sweep on other machines failed; the message says what to do. Finished chunks are kept."""


class MissingPackage(ClusterError):
    """A Python package that an engine needs is not installed."""


class Engine:
    """An executor that may have to be replaced."""

    executor: Executor

    def slots(self) -> int:
        """How many chunks run at a time."""
        raise NotImplementedError

    def is_alive(self) -> bool:
        """False if what was submitted will never come back."""
        return True

    def deaths(self) -> int:
        """How many workers went whose tasks the engine gave to others itself."""
        return 0

    def avoid(self, address: str) -> None:
        """Gives no more chunks to a worker that cannot work, for a while. The worker itself is slow to
        fail, for executors that cannot choose."""

    def restart(self, why: str) -> None:
        """Replaces the executor."""
        raise ClusterError(f"the executor broke ({why}); finished chunks are kept: run the sweep again to resume")

    def close(self) -> None:
        """Gives back what the engine made itself."""


class AnyExecutor(Engine):
    """An Executor of the caller's, or a function that makes one, which is called again if it breaks."""

    def __init__(self, source: Union[Executor, Callable[[], Executor]], slots: Optional[int]) -> None:
        self._make = None if isinstance(source, Executor) else source
        self.executor = source if isinstance(source, Executor) else source()
        self._slots = slots

    def slots(self) -> int:
        if self._slots is not None:
            return self._slots
        own = getattr(self.executor, "_max_workers", None)
        return own if isinstance(own, int) else os.cpu_count() or 1

    def restart(self, why: str) -> None:
        if self._make is None:
            super().restart(why)
            return
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._make()

    def close(self) -> None:
        if self._make is not None:
            self.executor.shutdown(wait=False, cancel_futures=True)


class Dask(Engine):
    """A Dask scheduler. Its clients' futures do not survive its restart: then all is submitted again."""

    def __init__(self, client: Any, connect: Optional[Callable[[], Any]] = None) -> None:
        self._connect = connect
        self._deaths = 0
        self._use(client)

    @classmethod
    def at(cls, address: str) -> Dask:
        """The scheduler at an address such as tcp://host:8786."""
        distributed = _import("distributed", "dask:")

        def connect() -> Any:
            return distributed.Client(address, timeout=10, set_as_default=False)

        try:
            return cls(connect(), connect)
        except (OSError, TimeoutError, ValueError) as e:
            raise ClusterError(f"no Dask scheduler answers at {address} ({e}); start one: dask scheduler") from e

    def _use(self, client: Any) -> None:
        self._client = client
        self.executor = client.get_executor(pure=False)
        self._avoided: dict[str, float] = {}
        self._scheduler = self._identity()
        self._asked = time.monotonic()
        self._missed = 0
        self._slots = 1
        self._choose()

    def _identity(self) -> Optional[dict[str, Any]]:
        try:
            identity: dict[str, Any] = self._client.sync(self._client.scheduler.identity, callback_timeout=10)
            return identity
        except Exception:  # The client raises several kinds when the connection is lost.
            return None

    def _choose(self) -> None:
        """Counts the workers, and leaves out those that cannot work."""
        now = time.monotonic()
        self._avoided = {address: until for address, until in self._avoided.items() if until > now}
        workers: dict[str, Any] = (self._scheduler or {}).get("workers", {})
        good = {address: worker for address, worker in workers.items() if address not in self._avoided}
        self._slots = max(1, sum(int(worker["nthreads"]) for worker in good.values()))
        if good and len(good) < len(workers):
            # Others may take a task if these die.
            self.executor = self._client.get_executor(pure=False, workers=list(good), allow_other_workers=True)
        else:
            self.executor = self._client.get_executor(pure=False)

    def avoid(self, address: str) -> None:
        self._avoided[address] = time.monotonic() + _AVOIDED_S
        self._choose()

    def slots(self) -> int:
        return self._slots

    def is_alive(self) -> bool:
        if time.monotonic() - self._asked < _ASK_EVERY_S:
            return True
        now = self._identity()
        self._asked = time.monotonic()
        if now is None:
            self._missed += 1
            return self._missed < _MISSED
        self._missed = 0
        if self._scheduler is not None and now["id"] != self._scheduler["id"]:
            return False
        if self._scheduler is not None:
            self._deaths += len(self._scheduler["workers"].keys() - now["workers"].keys())
        self._scheduler = now
        self._choose()
        return True

    def deaths(self) -> int:
        return self._deaths

    def restart(self, why: str) -> None:
        if self._connect is None:
            super().restart(why)
            return
        end = time.monotonic() + PATIENCE_S
        self._drop()
        while True:
            try:
                self._use(self._connect())
                if self._scheduler is not None:
                    return
                self._drop()
            except (OSError, TimeoutError, ValueError):
                pass
            if time.monotonic() > end:
                raise ClusterError(f"the scheduler did not come back within {PATIENCE_S:.0f} s ({why})")
            time.sleep(1)

    def _drop(self) -> None:
        try:
            self._client.close(timeout=2)
        except Exception:  # It is lost anyway.
            pass

    def close(self) -> None:
        if self._connect is not None:
            self._drop()


class Slurm(Dask):
    """Workers as SLURM jobs, by dask-jobqueue. Dask's configuration (jobqueue.slurm) sets queue,
    memory and time limit."""

    def __init__(self, jobs: int) -> None:
        jobqueue = _import("dask_jobqueue", "slurm", "dask-jobqueue")
        distributed = _import("distributed", "slurm")
        dask = _import("dask", "slurm")

        def setting(key: str, default: Any) -> Any:
            told = dask.config.get(f"jobqueue.slurm.{key}", None)
            return default if told is None else told

        options: dict[str, Any] = {
            "cores": setting("cores", 1),
            "processes": setting("processes", 1),
            "memory": setting("memory", "2GB"),
            "walltime": setting("walltime", "01:00:00"),
        }
        try:
            self._cluster = jobqueue.SLURMCluster(**options)
        except (OSError, RuntimeError, ValueError) as e:
            raise ClusterError(f"cannot start workers by SLURM: {e}") from e
        self._jobs = jobs
        self._scaled = float("-inf")
        self._scale()
        super().__init__(distributed.Client(self._cluster, set_as_default=False))

    def _scale(self) -> None:
        # Workers that reached their time limit are replaced only when the number is set again.
        if time.monotonic() - self._scaled >= _ASK_EVERY_S:
            self._cluster.scale(jobs=self._jobs)
            self._scaled = time.monotonic()

    def is_alive(self) -> bool:
        self._scale()
        return super().is_alive()

    def close(self) -> None:
        self._drop()
        self._cluster.close(timeout=10)


def of_executor(source: Union[Executor, Callable[[], Executor]], slots: Optional[int]) -> Engine:
    """The engine of an executor of the caller's."""
    client = getattr(source, "_client", None)
    if slots is None and hasattr(client, "scheduler_info"):
        return Dask(client)
    return AnyExecutor(source, slots)


def named(name: str, jobs: Optional[int]) -> Engine:
    """The engine of `wayhop sweep --on`."""
    # Lost workers and connections are the coordinator's to report, in a line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if name == "slurm":
        return Slurm(jobs or os.cpu_count() or 1)
    kind, _, address = name.partition(":")
    if kind != "dask" or not address:
        raise ClusterError(f"unknown engine {name}; give dask:ADDRESS or slurm")
    return Dask.at(address)


def _import(module: str, engine: str, package: Optional[str] = None) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as e:
        package = package or module
        raise MissingPackage(
            f"--on {engine} needs the Python package {package}: python3 -m pip install {package} ({e})"
        ) from e
