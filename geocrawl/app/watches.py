"""Look for changes that watches report, and deliver the notices: `geocrawl watch send`, and the daemon's job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geocrawl.model.watches import MOST_FAILURES, Delivery
from geocrawl.notices import deliver
from geocrawl.ports import Clock
from geocrawl.sanitize import masked
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep.watches import Watches

_RECIPIENTS_AT_ONCE = 32
_LOOK_EVERY_S = 300.0
"""A round looks and delivers after this time although nothing in the catalogue has changed."""


@dataclass(frozen=True, slots=True)
class WatchReport:
    """Counts what one round wrote and delivered."""

    found: int
    """New notices."""
    messages: int
    """Messages that arrived."""
    failures: tuple[str, ...]
    """One line for each message that did not."""


class WatchRound:
    """Looks and delivers; keeps the search, which holds facts of all services, from one round to the next."""

    def __init__(self, settings: Settings, store: Store, clock: Clock, log: Callable[..., object]) -> None:
        """`log(event, **values)` writes a line for each message."""
        self._settings = settings
        self._store = store
        self._clock = clock
        self._log = log
        self._watches = Watches(store.database)
        self._catalogue = Catalogue(store.connection)
        self._seen, self._looked_at = (-1, -1), 0.0

    async def send_news(self) -> WatchReport:
        """Do as `send` does if something changed since the last round, or that is some minutes ago."""
        newest, now = await self._store.runner.run(self._watches.newest), self._clock.now()
        if newest == self._seen and 0 <= now - self._looked_at < _LOOK_EVERY_S:
            return WatchReport(0, 0, ())
        self._seen, self._looked_at = newest, now
        return await self.send()

    async def send(self, *, again: bool = False) -> WatchReport:
        """Write what changed since the last round, and deliver what waits: each recipient by itself, one message after
        the other, those first that took their last one.

        `again`: also to recipients whose failures ask for a pause.
        """
        run, watches = self._store.runner.run, self._watches
        notices = await run(watches.look, self._catalogue.numbers, self._clock.now())
        await run(watches.set_paces, self._settings, self._clock.now())
        queues: dict[str, list[Delivery]] = {}
        for delivery in sorted(await run(watches.due, self._clock.now(), again=again), key=_failures):
            queues.setdefault(delivery.watch.recipient, []).append(delivery)
        places = asyncio.Semaphore(_RECIPIENTS_AT_ONCE)
        rounds = await asyncio.gather(
            *(self._serve(queue, places) for queue in queues.values()), return_exceptions=True
        )
        failures = list[str]()
        for told in rounds:
            if isinstance(told, BaseException):
                raise told
            failures += told
        return WatchReport(notices, sum(map(len, queues.values())) - len(failures), tuple(failures))

    async def _serve(self, queue: Sequence[Delivery], places: asyncio.Semaphore) -> list[str]:
        """Deliver one recipient's messages; return a line for each that did not arrive.

        After a failure the others are not tried: each of them waits for its watch's next attempt.
        """
        run, failures, error = self._store.runner.run, list[str](), ""
        async with places:
            for delivery in queue:
                watch, recipient = delivery.watch, masked(delivery.watch.recipient)
                error = error or await deliver(delivery, self._settings, self._store.path, self._clock.now())
                if not error:
                    await run(self._watches.delivered, delivery, self._clock.now())
                    self._log("notices delivered", watch=watch.id, to=recipient, notices=len(delivery.notices))
                    continue
                await run(self._watches.failed, delivery, masked(error), self._clock.now())
                failures.append(f"watch {watch.id}: {recipient} {masked(error)}")
                self._log("notices not delivered", watch=watch.id, to=recipient, error=masked(error))
                if watch.failures + 1 >= MOST_FAILURES:
                    self._log("warning: a watch is given up, and tried once a day", watch=watch.id)
        return failures


def _failures(delivery: Delivery) -> int:
    return delivery.watch.failures
