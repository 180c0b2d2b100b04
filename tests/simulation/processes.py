"""Simulate processes of one machine: each has a number, lives or was killed, and has a clock of its own.

A context variable names the process whose code runs; tasks and callbacks inherit it. The store learns the number of its
process (`store.database.life`) from here meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from geocrawl.store.database import life


class ProcessKilledError(BaseException):
    """The process that runs was killed; nothing catches this but the loop."""


@dataclass(eq=False, slots=True)
class Process:
    """One simulated process."""

    name: str
    pid: int
    alive: bool = True
    paused: bool = False
    resumed_at: float = float("-inf")
    """Virtual time at which its last pause ended."""
    stalled_at: float = float("-inf")
    """Virtual time at which its last wait for a busy database ended, which blocked it."""
    wrong_by_s: float = 0.0
    """How far its clock is ahead."""
    steps: int = 0
    """Steps of its tasks so far."""
    statements: int = 0
    """Statements that it has executed."""
    requests: int = 0
    """Requests that it has sent."""


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)
_FIRST_PID = 1_000


class Processes:
    """All processes of one run."""

    def __init__(self) -> None:
        self._all: dict[int, Process] = {}

    def start(self, name: str) -> Process:
        """Return a new process."""
        process = Process(name, _FIRST_PID + len(self._all))
        self._all[process.pid] = process
        return process

    def __iter__(self) -> Iterator[Process]:
        return iter(self._all.values())

    def current_pid(self) -> int:
        """Return the number of the process whose code runs; 1 for the simulation itself."""
        process = PROCESS.get()
        return process.pid if process is not None else 1

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Let the store see these processes in place of the machine's."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(life, "os", SimpleNamespace(getpid=self.current_pid))
            yield
