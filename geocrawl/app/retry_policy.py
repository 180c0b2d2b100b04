"""Retry what a locked database or a full disk prevented, with exponential back-off and a line for the person who waits.

Commands, crawls and the daemon share this policy; its log also tells when a database gives no answer at all. An
interactive command fails after `database_patience_s`, and for want of room after 10 s at most; the daemon waits without
a limit. Visits under way when a write fails are made again; no settled visit is lost.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from geocrawl.errors import DatabaseFault, NoRoom, PassingFault, UnreachableServer
from geocrawl.ports import Clock
from geocrawl.store import Store
from geocrawl.urls.database import DatabaseUrl

T = TypeVar("T")
Log = Callable[..., object]
"""`log(event, **values)` writes one line."""

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_LONGEST_PAUSE_OF_A_COMMAND_S = 5.0
"""A person at the terminal expects the command to continue soon after the cause is gone."""
_PATIENCE_WITHOUT_ROOM_S = 10.0
"""Longest wait of a command for a full disk: who works at the terminal is told soon, and continues later."""
_PATIENCE_OF_A_STOP_S = 5.0
"""Longest wait since a stop: who ends a run waits for it."""
_STEP_S = 1.0
"""Longest time in seconds until a stop during a pause is noticed."""


class RetryPolicy:
    """Exponential back-off for one database that cannot be written for now."""

    def __init__(
        self,
        database: DatabaseUrl,
        clock: Clock,
        log: Log,
        *,
        limit_s: float = math.inf,
        before_pause: Callable[[PassingFault, float], object] = lambda fault, pause_s: None,
    ) -> None:
        """`log` is called once for each cause of a wait, and once when more than a trial was written again. `limit_s`:
        the longest wait since the last success. `before_pause(fault, pause_s)` is called before each pause."""
        self._path = database
        self._clock = clock
        self._log = log
        self._limit_s = limit_s
        self._longest_pause_s = _LONGEST_PAUSE_S if limit_s == math.inf else _LONGEST_PAUSE_OF_A_COMMAND_S
        self._before_pause = before_pause
        self._pauses = 0
        self._failing_since = 0.0
        self._ends_at = math.inf
        """When the last wait ends, after a stop."""
        self._in_pause = False
        self._waiting_since: float | None = None
        """When the first write failed since the last success."""
        self._logged = ""

    @property
    def is_waiting(self) -> bool:
        """Return whether the last attempt to write failed and the next one is still to come."""
        return self._in_pause

    def call(self, attempt: Callable[[], T]) -> T:
        """Call `attempt` until the database lets it succeed, and return its result. Blocks during pauses.

        Raises PassingFault when `limit_s` is over, and DatabaseFault at once for a fault that waiting does not mend.
        """
        while True:
            try:
                made = attempt()
            except PassingFault as error:
                asyncio.run(self._clock.sleep(self._next_pause_s(error)))
            else:
                self.reset()
                return made

    @contextmanager
    def opened(self, prepare: Callable[[Store], T]) -> Iterator[T]:
        """Open the database, yield the result of `prepare`, and close the database in the end. A retry opens the
        database again.

        Raises as `call` does, and DatabaseFault at once for a server that cannot be reached, unless the wait has no
        limit: its address may be mistyped, and a person is waiting.
        """
        with ExitStack() as stack:

            def attempt() -> T:
                stack.close()
                try:
                    store = stack.enter_context(Store.open(self._path, clock=self._clock))
                    store.tell_waits(self._log)
                    return prepare(store)
                except UnreachableServer as error:
                    raise error if self._limit_s == math.inf else DatabaseFault(str(error)) from None

            yield self.call(attempt)

    async def until_writable(
        self,
        fault: PassingFault | None,
        store: Store,
        write: Callable[[], object],
        stopping: Callable[[], bool],
    ) -> None:
        """After `fault`, wait until `write` succeeds on `store`, or until `stopping` returns true.

        The back-off keeps growing over several such waits until `reset`, because a small `write` may succeed on a disk
        that has no room for a visit. Raises as `call` does.
        """
        while fault is not None:
            if await self._is_stopped_in_pause(self._next_pause_s(fault), stopping):
                return
            fault = await store.runner.run(store.try_write, write)
        self._in_pause = False

    def hasten(self) -> None:
        """End every wait soon, because the run is to stop. Has no effect when called again."""
        self._ends_at = min(self._ends_at, self._clock.monotonic() + _PATIENCE_OF_A_STOP_S)

    def reset(self) -> None:
        """Reset the back-off after a successful write, and log the end of a wait: the next fault starts with the
        shortest pause."""
        if self._waiting_since is not None:
            waited_s = round(self._clock.monotonic() - self._waiting_since, 1)
            self._log("the database can be written again", waited_s=waited_s)
        self._pauses, self._in_pause, self._waiting_since, self._logged = 0, False, None, ""

    def _next_pause_s(self, fault: PassingFault) -> float:
        """Return the next pause, twice as long each time, and log its cause. Raises `fault` when `limit_s` is over."""
        now = self._clock.monotonic()
        if self._pauses == 0:
            self._failing_since = now
        limit_s = self._limit_of_s(fault)
        left_s = min(self._failing_since + limit_s, self._ends_at) - now
        if left_s <= 0:
            raise fault
        self._pauses += 1
        self._in_pause = True
        if self._waiting_since is None:
            self._waiting_since = now
        self._log_cause(fault, limit_s)
        pause_s = min(_FIRST_PAUSE_S * 2.0 ** min(self._pauses - 1, 10), self._longest_pause_s, left_s)
        self._before_pause(fault, pause_s)
        return pause_s

    def _limit_of_s(self, fault: PassingFault) -> float:
        """Return the longest wait for the end of a fault: the daemon's has no limit, whatever the fault."""
        may_wait = self._limit_s == math.inf or not isinstance(fault, NoRoom)
        return self._limit_s if may_wait else min(self._limit_s, _PATIENCE_WITHOUT_ROOM_S)

    def _log_cause(self, fault: PassingFault, limit_s: float) -> None:
        if str(fault) != self._logged:
            self._logged = str(fault)
            limit = "" if limit_s == math.inf else f" up to {limit_s:g} s"
            self._log(f"waiting for the database{limit}", error=self._logged)

    async def _is_stopped_in_pause(self, pause_s: float, stopping: Callable[[], bool]) -> bool:
        until = self._clock.monotonic() + pause_s
        while (left_s := until - self._clock.monotonic()) > 0:
            if stopping():
                return True
            await self._clock.sleep(min(left_s, _STEP_S))
        return stopping()


def as_lines(say: Callable[[str], object]) -> Log:
    """Return a log that calls `say` with each event as a line for a person."""

    def log(event: str, *, error: str = "", **_: object) -> None:
        say(f"{event}: {error}" if error else event)

    return log
