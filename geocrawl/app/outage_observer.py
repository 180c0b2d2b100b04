"""Watch a crawl or a list of probes for a proxy that answers in every server's place, and undo what its answers did.

Such answers are told to nobody, and recorded nowhere in the end: the addresses wait again, and the loop waits as for
any fault of this machine (`crawler/outage.py`). The proxy cannot be tested by itself: after each pause, a few visits
try.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from geocrawl.app.network_outage import is_in_vain
from geocrawl.app.network_watch import NetworkWatch
from geocrawl.errors import OwnFault

if TYPE_CHECKING:
    from geocrawl.model import Entry, FrontierStats, Lease, Settled, Visit
    from geocrawl.ports import Clock, Observer

_MOST_HELD = 200
"""Visits that are kept back at most, until it is known whether a server answered."""


class OutageObserver:
    """`ports.Observer` that passes everything on, visits that may have met a failing gateway once another was answered.

    It raises OwnFault out of `settled` as long as a gateway seems to fail; the loop then waits.
    """

    def __init__(self, inner: Observer, watch: NetworkWatch, clock: Clock) -> None:
        self._inner = inner
        self._watch = watch
        self._clock = clock
        self._held: list[tuple[Entry, Visit, Settled]] = []
        self._begun: dict[int, float] = {}
        """When the visits under way began."""
        self._told_at = -math.inf
        """When a gateway was last seen to fail: an answer to an older request says nothing of it."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Pass on that a run begins."""
        self._inner.started(stats, notes)

    def noted(self, text: str) -> None:
        """Pass on a line for a person."""
        self._inner.noted(text)

    def leased(self, lease: Lease) -> None:
        """Pass on that a visit begins."""
        self._watch.leased(lease)
        self._begun[lease.entry.id] = self._clock.monotonic()
        if len(self._begun) > _MOST_HELD:
            del self._begun[next(iter(self._begun))]
        self._inner.leased(lease)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """Pass a settled visit on, now or later. Raises OwnFault when a gateway seems to have answered it."""
        outage, begun = self._watch.outage, self._begun.pop(entry.id, math.inf)
        if outage.suspected and begun < self._told_at and not is_in_vain(visit.http_status, visit.reason):
            self._inner.settled(entry, visit, result)  # an answer to a request from before
            return
        self._watch.settled(entry, visit)
        if visit.http_status is not None and is_in_vain(visit.http_status, visit.reason):
            self._held.append((entry, visit, result))
            if outage.suspected:
                self._held.clear()
                self._told_at = self._clock.monotonic()
                raise OwnFault(outage.text[0].upper() + outage.text[1:], "Servers answer again", self._may_try)
            if len(self._held) >= _MOST_HELD:
                self._pass_on()
            return
        if not outage.suspected:
            self._end_outage()
        self._inner.settled(entry, visit, result)

    def end(self) -> None:
        """Undo or pass on what is left at the end of a run."""
        self._end_outage()

    def _end_outage(self) -> None:
        """Undo what an outage did, and forget what it answered; without one, pass on what was kept back."""
        if self._watch.outage.since is None:
            self._pass_on()
            return
        self._held.clear()
        self._watch.undo_outage(self._clock.now(), hosts_rest=False)

    def _pass_on(self) -> None:
        held, self._held = self._held, []
        for entry, visit, result in held:
            self._inner.settled(entry, visit, result)

    async def _may_try(self) -> bool:
        """Undo what the last try did, back-offs included: a run in which every host rests would end."""
        self._watch.undo_outage(self._clock.now(), hosts_rest=False)
        return True
