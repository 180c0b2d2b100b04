"""End other processes on a database politely: ask each with SIGTERM, and wait until it has gone."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geocrawl.store.database.processes import WorkingProcess

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
    """Ask a process to end and wait for at most `wait_s` seconds.

    Its number may belong to another program by now, so its start time is compared first.
    """
    running = process.is_running()
    if running is None:
        return StopResult.OUT_OF_REACH
    try:
        with suppress(ProcessLookupError):
            if running:
                os.kill(process.owner.pid, signal.SIGTERM)
    except PermissionError:
        return StopResult.FORBIDDEN
    ends_at = time.monotonic() + wait_s
    while process.is_running():
        if time.monotonic() >= ends_at:
            return StopResult.STILL_RUNNING
        time.sleep(_STEP_S)
    return StopResult.ENDED
