"""Look for changes that watches report, and deliver the notices: `geocrawl watch send`, and the daemon's job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from geocrawl.model.watches import MOST_FAILURES
from geocrawl.notices import deliver
from geocrawl.ports import Clock
from geocrawl.sanitize import masked
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep.watches import Watches


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

    async def send(self, *, again: bool = False) -> WatchReport:
        """Write what changed since the last round, and deliver what waits, one message after the other.

        `again`: also to recipients whose failures ask for a pause.
        """
        run, watches = self._store.runner.run, self._watches
        notices = await run(watches.look, self._catalogue.numbers, self._clock.now())
        messages, failures = 0, list[str]()
        for delivery in await run(watches.due, self._clock.now(), again=again):
            error = await deliver(delivery, self._settings, self._store.path, self._clock.now())
            recipient = masked(delivery.watch.recipient)
            if error:
                await run(watches.failed, delivery, masked(error), self._clock.now())
                failures.append(f"watch {delivery.watch.id}: {recipient} {masked(error)}")
                self._log("notices not delivered", watch=delivery.watch.id, to=recipient, error=masked(error))
                if delivery.watch.failures + 1 >= MOST_FAILURES:
                    self._log("warning: a watch is given up, and tried once a day", watch=delivery.watch.id)
            else:
                await run(watches.delivered, delivery, self._clock.now())
                messages += 1
                self._log("notices delivered", watch=delivery.watch.id, to=recipient, notices=len(delivery.notices))
        return WatchReport(notices, messages, tuple(failures))
