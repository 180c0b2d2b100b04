"""An event loop in virtual time that runs one step at a time, and lets a seed choose the next one.

Steps of a killed process are dropped, those of a paused one are kept until it goes on: so a process can be killed and
paused wherever it awaits anything. When no step is ready, the time is that of the next timer.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any, TypeVar

import pytest

from tests.simulation.processes import PROCESS, Process, ProcessKilledError

T = TypeVar("T")
START = 1_750_000_000.0
"""Seconds since the epoch at which every run begins."""


class StuckError(Exception):
    """A run did not end within its bounds."""


class _Future(asyncio.Future[Any]):
    """A future whose place in a set is the same in every run."""

    def __init__(self, number: int, loop: Any) -> None:
        super().__init__(loop=loop)
        self._number = number

    def __hash__(self) -> int:
        return self._number


class _Task(asyncio.Task[Any]):
    """A task whose place in a set is the same in every run."""

    def __init__(self, number: int, coro: Any, **named: Any) -> None:
        self._number = number
        super().__init__(coro, **named)

    def __hash__(self) -> int:
        return self._number


_Loop: Any = asyncio.AbstractEventLoop
"""For the type checker, which accepts no loop without sockets and processes."""


class SimulatedLoop(_Loop):  # type: ignore[misc]
    """The loop; `time` is virtual and begins at 0."""

    def __init__(self, rng: random.Random, *, disorder: float) -> None:
        """`disorder`: share of steps that are drawn; the others are taken in the order in which they became ready."""
        self.rng = rng
        self._disorder = disorder
        self._now = 0.0
        self._ready: list[tuple[Process | None, asyncio.Handle]] = []
        self._timers: list[tuple[float, int, Process | None, asyncio.TimerHandle]] = []
        self._held: dict[Process, list[tuple[Process | None, asyncio.Handle]]] = {}
        self._dropped: list[asyncio.Handle] = []
        """Steps of killed processes: with them end coroutines, whose last words nobody may hear before the run ends."""
        self._count = 0
        self.steps = 0
        self.before_step: Callable[[Process], None] = lambda process: None
        """Called before each step of a process; may kill or pause it."""
        self.errors: list[str] = []
        """What no task caught."""

    # ----------------------------------------------------------------------- time and processes

    def time(self) -> float:
        """Return the seconds of virtual time since the run began."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass while a process blocks."""
        self._now += max(seconds, 0.0)

    def pause(self, process: Process, seconds: float) -> None:
        """Freeze a process for so long."""
        process.paused = True
        self._held.setdefault(process, [])

        def go_on() -> None:
            process.paused, process.resumed_at = False, self._now
            self._ready += self._held.pop(process, [])

        self.call_later(seconds, go_on, context=Context())

    def run(self, work: Coroutine[Any, Any, T], *, most_s: float, most_steps: int) -> T:
        """Run until the work is done, and return its result. Raises StuckError when a bound is reached."""
        task: asyncio.Task[T] = asyncio.Task(work, loop=self, context=Context())
        ends_at, last = self._now + most_s, self.steps + most_steps
        asyncio._set_running_loop(self)
        try:
            while not task.done():
                if self._now > ends_at:
                    raise StuckError(f"has not ended after {most_s:,.0f} s")
                if self.steps > last:
                    raise StuckError(f"has not ended after {most_steps:,} steps, at {self._now:,.1f} s")
                self._step()
        finally:
            asyncio._set_running_loop(None)
        return task.result()

    def forget(self) -> None:
        """Drop all that waits."""
        self._ready.clear()
        self._timers.clear()
        self._held.clear()
        self._dropped.clear()

    def _step(self) -> None:
        """Run one step of those that are ready, or go on to the next timer."""
        while self._timers and self._timers[0][0] <= self._now:
            _, _, process, timer = heapq.heappop(self._timers)
            self._ready.append((process, timer))
        if not self._ready:
            if not self._timers:
                raise StuckError(f"nothing can go on, at {self._now:,.1f} s")
            at, _, process, timer = self._timers[0]
            if timer.cancelled() or (process is not None and not process.alive):
                self._dropped.append(heapq.heappop(self._timers)[3])
            else:
                self._now = at
            return
        is_drawn = len(self._ready) > 1 and self.rng.random() < self._disorder
        process, handle = self._ready.pop(self.rng.randrange(len(self._ready)) if is_drawn else 0)
        if handle.cancelled():
            return
        if process is not None:
            process.steps += not process.paused
            self.before_step(process)
            if process.paused:
                self._held[process].append((process, handle))
            if not process.alive:
                self._dropped.append(handle)
            if process.paused or not process.alive:
                return
        self.steps += 1
        handle._run()

    # ----------------------------------------------------------------------- what asyncio asks of a loop

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        context = copy_context() if context is None else context
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append((context.get(PROCESS), handle))
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, context.get(PROCESS), handle))
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        self._count += 1
        return _Future(self._count, self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> asyncio.Task[Any]:
        self._count += 1
        return _Task(self._count, coro, loop=self, name=name, context=context)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:
        """Do the work at once: threads would not be the same in every run."""
        result = self.create_future()
        try:
            result.set_result(func(*args))
        except Exception as error:
            result.set_exception(error)
        return result

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Note an exception that nobody caught; not of tasks that were dropped with their process."""
        error = context.get("exception")
        if error is not None and not isinstance(error, ProcessKilledError):
            self.errors.append(f"{context.get('message')}: {error!r}")

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Do nothing: a cancelled timer is passed over when its time comes."""

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Let this loop's time stand in the place of the machine's, for all that reads it from `time`."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time", lambda: START + self._now)
            patch.setattr(time, "monotonic", self.time)
            patch.setattr(time, "thread_time", self.time)
            patch.setattr(time, "sleep", self.advance)
            yield


class SimulatedClock:
    """`ports.Clock` of one process, whose wall clock may be wrong."""

    def __init__(self, loop: SimulatedLoop, process: Process | None = None) -> None:
        self._loop = loop
        self._process = process

    def now(self) -> float:
        """Return the seconds since the epoch that the process believes in."""
        return START + self._loop.time() + (self._process.wrong_by_s if self._process else 0.0)

    def monotonic(self) -> float:
        """Return the seconds since the run began."""
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        """Sleep in virtual time."""
        await asyncio.sleep(max(seconds, 0.0))
