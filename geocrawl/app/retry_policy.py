"""Backoff with a database: another's lock and a full disk pass, and are waited for while it is opened and written."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from geocrawl.app import wiring
from geocrawl.errors import PassingFault

if TYPE_CHECKING:
    from geocrawl.ports import Clock
    from geocrawl.store.engine.backoff import Backoff
    from geocrawl.store.engine.database import Database

T = TypeVar("T")


class RetryPolicy:
    """Waits for one database, and says so."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        patience: Backoff,
        say: Callable[[str], object],
        pausing: Callable[[str, float], object] = lambda text, seconds: None,
    ) -> None:
        """`say(text)`: lines for a person, what is the matter and that it is over. `pausing(text, seconds)` is called
        before each pause."""
        self._path = path
        self._clock = clock
        self._patience = patience
        self._say = say
        self._pausing = pausing
        self._said = ""

    def through(self, attempt: Callable[[], T]) -> T:
        """What `attempt` returns, which is made again until the database lets it.

        Raises PassingFault when the patience is at its end, DatabaseFault at once for what does not pass.
        """
        while True:
            try:
                made = attempt()
            except (PassingFault, sqlite3.Error) as error:
                asyncio.run(self._clock.sleep(self.pause_s(error)))
            else:
                self.written()
                self.end()
                return made

    @contextmanager
    def prepared(self, prepare: Callable[[Database], T]) -> Iterator[T]:
        """What `prepare` makes of the database, which is opened for it and closed at the end. Raises as `through`."""
        with ExitStack() as stack:

            def attempt() -> T:
                stack.close()
                return prepare(stack.enter_context(wiring.open_database(self._path, self._clock)))

            yield self.through(attempt)

    def pause_s(self, error: PassingFault | sqlite3.Error) -> float:
        """How long to wait; what for is said once. Raises as `through`."""
        from geocrawl.store.engine.backoff import passing

        trouble = passing(self._path, error)
        pause_s = self._patience.pause_s(trouble)
        text = f"waiting for the database{self._patience.limit}: {trouble}"
        if text != self._said:
            self._said = text
            self._say(text)
        self._pausing(text, pause_s)
        return pause_s

    def written(self) -> None:
        """It can be written, as it seems."""
        if self._said:
            self._said = ""
            self._say("the database can be written again")

    def end(self) -> None:
        """All is well: the next trouble is another one."""
        self._patience.end()
