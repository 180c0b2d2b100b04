"""Run the calls of a store beside an event loop, in a thread of the store's own, one after the other.

While a loop runs, this thread alone uses the connection, so a database that is slow, locked or away holds up only those
who ask it something. Before a loop begins and after it has ended, the thread that opened the connection uses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from geocrawl.store.database.connection import BUSY_S, Connection
from geocrawl.store.database.steps import FREE, ChunkedWork

if TYPE_CHECKING:
    from geocrawl.ports import Clock

P = ParamSpec("P")
T = TypeVar("T")

_SLOW_S = BUSY_S + 2.0
"""A call that lasts longer is told to a person. One that waits for a lock fails before, and is told then."""
_CUT_OFF_S = 3.0
"""How long a call may last after the task that awaits it was cancelled."""


class InLoop:
    """Runs each call at once, in the loop itself (`ports.StoreRunner`): where time is virtual, nothing happens
    meanwhile."""

    def __init__(self, clock: Clock) -> None:
        """`clock` measures the steps of long work: in virtual time they take none, so that no wait depends on how fast
        the machine is."""
        self._clock = clock
        self.tell: Callable[..., object] = lambda event, **values: None
        """`tell(event, **values)` writes a line when the database has not answered for long, and when it does again."""

    @property
    def waits_for(self) -> str:
        """Return for what all calls have waited for long, as a sentence; '' while they are answered."""
        return ""

    async def run(self, call: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
        """Return what a call returns."""
        return call(*values, **named)

    async def run_steps(self, work: ChunkedWork[T]) -> T:
        """Do work in steps (`database/steps.py`), other calls between them; return its result."""
        while True:
            took_s, end = await self.run(_step, work, self._clock)
            if end is not None:
                result: T = end.value
                return result
            await self._clock.sleep(FREE * took_s)

    def close(self) -> None:
        """Wait until no call is under way."""


def _step(work: ChunkedWork[Any], clock: Clock) -> tuple[float, StopIteration | None]:
    """Do the next step; return how long it took, and the end of the work if it was the last one."""
    begun, end = clock.monotonic(), None
    try:
        next(work)
    except StopIteration as error:
        end = error
    return clock.monotonic() - begun, end


class StoreThread(InLoop):
    """Runs all calls in one thread, in the order in which they are made. Who awaits a call makes no other one, so there
    are never more calls than visits and jobs."""

    def __init__(self, clock: Clock, connection: Connection) -> None:
        """The thread begins with the first call. `connection`: cut off when a call has to end."""
        super().__init__(clock)
        self._connection = connection
        self._thread: ThreadPoolExecutor | None = None
        self._slow_since: float | None = None
        self._slow = 0
        """How many calls have lasted for so long that it was told."""

    async def run(self, call: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
        """Return what a call returns, or raise what it raises.

        A task that is cancelled meanwhile goes on until the call has ended, and learns its result, so that a lease is
        always known to whoever has to give it back. The cancellation is raised where the task waits next. A call that
        then lasts for `_CUT_OFF_S` is not begun, or cut off: it raises PassingFault, and its transaction is undone.
        """
        self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="store")
        under_way = self._thread.submit(partial(call, *values, **named))
        answer = asyncio.wrap_future(under_way)
        is_cancelled = is_slow = False
        try:
            while not answer.done():
                patience_s = _CUT_OFF_S if is_cancelled else None if is_slow else _SLOW_S
                try:
                    done, _ = await asyncio.wait((answer,), timeout=patience_s)
                except asyncio.CancelledError:
                    is_cancelled = True
                    continue
                if not done and is_cancelled and not under_way.cancel():
                    self._connection.cut_off()
                elif not done and not is_cancelled:
                    is_slow = True
                    self._note_slow(_SLOW_S)
        finally:
            if is_slow:
                self._note_answer()
        task = asyncio.current_task()
        if is_cancelled and task is not None and not answer.cancelled():
            task.uncancel()
            task.cancel()
        return answer.result()

    @property
    def waits_for(self) -> str:
        """Return that the database gives no answer, and for how long; '' while it does."""
        if self._slow_since is None:
            return ""
        return f"{self._connection.path}: no answer for {self._clock.monotonic() - self._slow_since:,.0f} s"

    def _note_slow(self, lasted_s: float) -> None:
        self._slow += 1
        if self._slow_since is None:
            self._slow_since = self._clock.monotonic() - lasted_s
            self.tell("waiting for the database", error=self.waits_for)

    def _note_answer(self) -> None:
        self._slow -= 1
        if not self._slow and self._slow_since is not None:
            waited_s, self._slow_since = self._clock.monotonic() - self._slow_since, None
            self.tell("the database answers again", waited_s=round(waited_s, 1))

    def close(self) -> None:
        """Wait for the end of the call that is under way, and end the thread."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


class _Database(Protocol):
    @property
    def runner(self) -> InLoop: ...


class _OfStore(Protocol):
    @property
    def _database(self) -> _Database: ...


S = TypeVar("S", bound=_OfStore)


def awaited(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Make of a method that asks a database one that is awaited while the database's runner calls it."""

    @wraps(method)
    async def call(self: S, /, *values: P.args, **named: P.kwargs) -> T:
        return await self._database.runner.run(method, self, *values, **named)

    return call
