"""Run one function on one answer in a reading process, within limits that the kernel enforces.

The kernel ends the process when a timer expires, whatever C code it is in, even if the crawl's own process is gone. A
process whose crawl is gone ends by itself, because its standard input is closed.
"""

from __future__ import annotations

import pickle
import resource
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WALL_FACTOR = 5.0
"""Factor from a reading's limit on CPU time to its limit by the clock, which a busy machine needs longer for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The CPU time and the memory that the reading of one answer may use."""

    cpu_s: float
    memory_bytes: int
    """Limit for the whole process: heap and private mappings (RLIMIT_DATA)."""


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """Replaces a result that would have needed too much memory."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Replaces a result when the function raised an exception, which is a defect of geocrawl."""

    traceback: str


def answer(request: bytes | Path, limits: Limits) -> bytes | Path:
    """Run the pickled function of a request and return its pickled result, `OutOfMemory` or `Raised`.

    The result of a request in a file is a file beside it.
    """
    _prepare(limits)
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_s)
    signal.setitimer(signal.ITIMER_REAL, WALL_FACTOR * limits.cpu_s)
    try:
        return _result(request)
    except MemoryError:
        return pickle.dumps(OutOfMemory())
    except Exception:
        return pickle.dumps(Raised(traceback.format_exc()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _prepare(limits: Limits) -> None:
    """Limit the memory, and ignore signals to the process group: the crawl handles them and ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = limits.memory_bytes if hard == resource.RLIM_INFINITY else min(limits.memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _result(request: bytes | Path) -> bytes | Path:
    think: Callable[[], Any]
    if isinstance(request, bytes):
        think = pickle.loads(request)  # noqa: S301  # of our own process
        return pickle.dumps(think(), pickle.HIGHEST_PROTOCOL)
    with request.open("rb") as file:
        request.unlink()  # removed at once, so that no file stays when this process or the crawl is killed
        think = pickle.load(file)  # noqa: S301  # of our own process
    found, path = think(), request.with_name("result")
    try:
        with path.open("wb") as file:
            pickle.dump(found, file, pickle.HIGHEST_PROTOCOL)
    except OSError:  # the disk is full: use memory instead
        return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    return path
