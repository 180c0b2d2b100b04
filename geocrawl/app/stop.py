"""End other processes on a database politely: ask each with SIGTERM, and wait until it has gone.

A number of a process may belong to another program by now. Where the system has file descriptors of processes
(pidfd_open(2), Linux 5.3) one is opened first and the start time is compared then, so that the signal reaches the
process that was compared and no later one.
"""

from __future__ import annotations

import os
import select
import signal
import time
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geocrawl.store.read.processes import WorkingProcess

_STEP_S = 0.1


class StopResult(StrEnum):
    """What became of a process that was to end."""

    ENDED = "ended"
    STILL_RUNNING = "still running"
    OUT_OF_REACH = "out of reach"
    """On another machine, in another container, or of an unknown start."""
    FORBIDDEN = "forbidden"
    """Another user's."""


def stop(process: WorkingProcess, wait_s: float) -> StopResult:
    """Ask a process to end and wait for at most `wait_s` seconds."""
    pid, descriptor = process.owner.pid, None
    try:
        descriptor = _descriptor(pid)
        running = process.is_running()
        if running is None:
            return StopResult.OUT_OF_REACH
        if not running:
            return StopResult.ENDED
        _signal(pid, descriptor)
        return StopResult.ENDED if _has_ended(process, descriptor, wait_s) else StopResult.STILL_RUNNING
    except ProcessLookupError:
        return StopResult.ENDED if process.is_running() is False else StopResult.OUT_OF_REACH
    except PermissionError:
        return StopResult.FORBIDDEN
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _descriptor(pid: int) -> int | None:
    """Return a file descriptor of a process, None on a system that has none. Raises ProcessLookupError."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, ValueError):
        return None
    except ProcessLookupError:
        raise
    except OSError:  # an older kernel, or a container that forbids it
        return None


def _signal(pid: int, descriptor: int | None) -> None:
    if descriptor is None:
        os.kill(pid, signal.SIGTERM)
    else:
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)


def _has_ended(process: WorkingProcess, descriptor: int | None, wait_s: float) -> bool:
    """Wait until a process has ended; return whether it has."""
    if descriptor is not None:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(wait_s * 1000))
    end = time.monotonic() + wait_s
    while process.is_running() is not False:
        if time.monotonic() >= end:
            return False
        time.sleep(_STEP_S)
    return True
