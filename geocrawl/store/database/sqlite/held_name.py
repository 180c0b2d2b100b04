"""Hold the name of a process by a lock of a file beside the database, so that all see its end at once.

The kernel gives the lock up however the process ends, in every container that sees the file. Where the file system has
no locks, heartbeats alone say who lives (`life.py`).
"""

from __future__ import annotations

import fcntl
import os
import zlib
from contextlib import suppress
from pathlib import Path

from geocrawl.files import SECRET


class HeldName:
    """The lock of one process's file."""

    def __init__(self, path: Path, owner: str) -> None:
        """Lock the file of `owner`. Raises OSError where the file system has no locks."""
        self._file = _life_file(path, owner)
        self._descriptor = os.open(self._file, os.O_CREAT | os.O_RDWR, SECRET)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise

    @property
    def is_there(self) -> bool:
        """Return whether the file still stands under its name."""
        return self._file.exists()

    def release(self) -> None:
        """Give the lock up."""
        self._file.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_held(path: Path, owner: str) -> bool | None:
    """Return whether a process holds its `HeldName`; None when that cannot be seen."""
    file = _life_file(path, owner)
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with suppress(OSError):
            file.unlink(missing_ok=True)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _life_file(path: Path, owner: str) -> Path:
    return path.with_name(f"{path.name}-alive-{zlib.crc32(owner.encode()):08x}")
