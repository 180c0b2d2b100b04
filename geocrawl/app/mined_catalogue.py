"""Put what is mined from archives into a catalogue: services are queued to be probed, pages become start pages.

The place in the archive is stored as evidence of the service, and as the source of the start page, so `geocrawl show`
and `why` print it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from geocrawl.mining.model import ARCHIVE, Find
from geocrawl.model import Candidate, Evidence
from geocrawl.store.maintenance.seeds import NewSeed, add_seeds

if TYPE_CHECKING:
    from geocrawl.app.retry_policy import RetryPolicy
    from geocrawl.app.session import Session
    from geocrawl.mining.model import Source


class MinedCatalogue:
    """A catalogue that takes finds (`mining.miner.Sink`). Every method waits for a locked database (`RetryPolicy`)."""

    def __init__(self, session: Session, retrying: RetryPolicy) -> None:
        self._session = session
        self._retrying = retrying
        self._catalog = session.store.catalog()
        self.new_services = 0
        self.new_pages = 0

    def is_done(self, source: Source) -> bool:
        """Return whether a file was mined before for this catalogue."""
        return self._session.store.facts.was_mined(source.identity)

    def take(self, source: Source, finds: Sequence[Find]) -> None:
        """Queue what is not known yet."""
        services = [find.candidate for find in finds if find.candidate is not None]
        known = self._catalog.verdicts_of([each.endpoint for each in services])
        new = {(str(e.endpoint.kind), e.endpoint.key) for e in services} - known.keys()
        candidates = [each for find in finds if find.candidate for each in _with_place(find.candidate, find)]
        self._retrying.call(lambda: self._session.frontier.add_candidates(candidates))
        self.new_services += len(new)
        self._take_pages([find for find in finds if find.candidate is None])

    def done(self, source: Source) -> None:
        """Store that a file was mined, so that it is not mined again."""
        self._retrying.call(lambda: self._session.store.facts.write_mined(source.identity))

    def drop(self, source: Source) -> None:
        """Do nothing: what was found is true, and found again it changes nothing."""

    def _take_pages(self, finds: Sequence[Find]) -> None:
        if not finds:
            return
        store, rank = self._session.store, self._session.strategy.seed_rank()
        seeds = [NewSeed(find.url, title=find.text, source=find.place.reference) for find in finds]
        self.new_pages += self._retrying.call(lambda: add_seeds(store.database, seeds, self._session.clock.now()))
        self._retrying.call(lambda: self._session.frontier.add_seeds([find.url for find in finds], rank))


def _with_place(candidate: Candidate, find: Find) -> list[Candidate]:
    """Return a candidate with the page that names it as evidence, if any, and with its place in the archive."""
    place = replace(candidate, evidence=Evidence(ARCHIVE, find.place.reference, find.link))
    return [candidate, place] if candidate.evidence.page else [place]
