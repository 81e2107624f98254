"""Temporary folders of sweep workers, which may be killed before they remove theirs.

A folder belongs to the process that holds its lock (`flock`), which the system releases however the process ends. Each
worker removes the folders that nobody holds before it makes its own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

PREFIX = "wayhop-sweep-"

# Open as long as the process lives: they hold the locks.
_held: list[int] = []


def folder() -> Path:
    """Makes a temporary folder, and removes it with those of killed workers: its own when this process ends."""
    for left in _left_behind():
        shutil.rmtree(left, ignore_errors=True)
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = _locked(made, wait=True)
        # Another worker may have taken it for left behind before the lock was held.
        if made.exists():
            break
        if lock is not None:
            os.close(lock)
    if lock is not None:
        _held.append(lock)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _left_behind() -> Iterator[Path]:
    """The folders that no process holds, each locked while the caller has it."""
    for path in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        lock = _locked(path, wait=False)
        if lock is not None:
            try:
                yield path
            finally:
                os.close(lock)


def _locked(path: Path, wait: bool) -> Optional[int]:
    """A descriptor that holds the lock of a folder of this user; None if another process has it, or there are no locks."""
    try:
        import fcntl
    except ImportError:  # Windows: folders of killed workers stay.
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return descriptor
    except OSError:  # Held, or a file system without locks.
        pass
    os.close(descriptor)
    return None
