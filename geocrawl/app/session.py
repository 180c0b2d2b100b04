"""Define a session: the parts of one crawl, harvest or list of probes on one database.

`wiring.make_session` makes a session, `crawl` claims its database for the session's strategy, `run` runs the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from geocrawl.crawler.learning import Learning
from geocrawl.detect import Detector
from geocrawl.fetch.names import Resolver
from geocrawl.fetch.paced_host import RetryAfterMemory
from geocrawl.model import HARVEST_TIER, Candidate, Evidence, FrontierStats, Rank, Url
from geocrawl.page.document import PageReader
from geocrawl.ports import Clock, ContentCheck, Politeness, ReadingPool, StoreRunner, Strategy
from geocrawl.settings import Settings
from geocrawl.store.upkeep.seeds import seed_addresses
from geocrawl.urls import read_url

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    import httpx

    from geocrawl.store import CatalogueWriter, SqlFrontier, Store


@dataclass(frozen=True, slots=True)
class Environment:
    """A clock and a web for tests, replays and simulations, instead of the machine's clock and the real web."""

    clock: Clock
    transport: httpx.AsyncBaseTransport
    pages_counted: Callable[[], int]
    """Returns the number of pages that `max_pages` limits."""
    idle_s: float = 1.0
    """Longest sleep of a worker without work, seconds. It may be long in virtual time, where no other process adds
    work."""
    new_loop: Callable[[], AbstractEventLoop] | None = None
    """Makes the event loop of a run; None: asyncio's own."""
    resolver: Resolver | None = None
    """Knows the IP addresses of the web's hosts, so that `requests_per_ip` holds there, too; None: nobody does."""


@dataclass(frozen=True, slots=True)
class SessionKind:
    """What a session visits, and whether its strategy learns."""

    learns: bool = False
    records_only: bool = False
    """Visit only pages of catalogues' records."""
    reads_found_catalogues: bool = False
    """With `records_only`: visit the records of catalogues that probes find, too. Else these wait for a crawl."""
    named_only: bool = False
    """Visit only the endpoints that a person named, and what `wants_lead` adds to them."""
    wants_lead: Callable[[Candidate, Candidate], bool] = lambda asked, named: True
    """`wants_lead(asked, named)`: whether to probe the endpoint `named`, which an answer of `asked` names."""
    content_check: Callable[[ContentCheck], ContentCheck] = lambda check: check
    """Returns the content check to run in place of a kind's own."""


CRAWL = SessionKind(learns=True)
MAINTENANCE = SessionKind()


class LatestStats:
    """The counts of a queue as they were a moment ago, for displays, which wait for no database."""

    def __init__(self, read: Callable[[], FrontierStats], store: StoreRunner) -> None:
        """`read` reads the counts; `store` calls it."""
        self._read = read
        self._store = store
        self._found = FrontierStats({}, {}, 0, 0, 0)

    def __call__(self) -> FrontierStats:
        """Return the counts that were read last."""
        return self._found

    async def refresh(self) -> None:
        """Read the counts. Raises DatabaseFault."""
        self._found = await self._store.run(self._read)


@dataclass(frozen=True, slots=True)
class Session:
    """The parts of one crawl, harvest or list of probes on one database."""

    kind: SessionKind
    settings: Settings
    store: Store
    clock: Clock
    strategy: Strategy
    stored_strategy: str | None
    """The strategy by which the database's queue was ordered when the session began; None for a new database."""
    stored_topic: str
    """The topic of that strategy; '' for the strategy's own."""
    learning: Learning
    frontier: SqlFrontier
    stats: LatestStats
    catalog: CatalogueWriter
    detector: Detector
    reader: PageReader
    pool: ReadingPool
    environment: Environment | None
    guest_of: Politeness | None
    """Politeness of the catalogue that a scratch session shares; None: that of its own database."""
    say: Callable[[str], object] = lambda line: None
    """Given a line for a person when a guest waits for a host."""
    rests: RetryAfterMemory = field(default_factory=RetryAfterMemory)
    """What asked to be left alone, kept from one run to the next."""

    def add_seeds(self, seeds: Sequence[Url], *, again: bool) -> int:
        """Queue start pages, and probe those that are a service's address. Returns how many addresses are queued.

        `again`: queue those that were visited before, too.
        """
        pages, endpoints = [], []
        for url in seeds:
            candidate = self.detector.of_url(url)
            if candidate is not None:
                endpoints.append(replace(candidate, evidence=Evidence("given", "", url.address)))
            if candidate is None or candidate.weak:
                pages.append(url)
        queued = self.frontier.add_seeds(pages, self.strategy.seed_rank(), again=again)
        return queued + self.frontier.add_candidates(endpoints, again=again)

    def add_stored_seeds(self) -> int:
        """Queue the start pages that `geocrawl seeds` stored and nobody visited yet. Returns how many are queued."""
        seeds = map(read_url, seed_addresses(self.store.connection))
        return self.add_seeds([url for url in seeds if url is not None], again=False)

    def records_rank(self) -> Rank:
        """Return the rank of the first page of records of a catalogue that a probe finds."""
        is_read_now = self.kind.records_only and self.kind.reads_found_catalogues
        return Rank(HARVEST_TIER) if is_read_now else self.strategy.seed_rank()


def with_stored_depth(settings: Settings, store: Store) -> Settings:
    """Return the settings with the last crawl's depth limit: only a crawl changes which pages wait."""
    depth = store.facts.max_depth()
    return settings if depth is None else replace(settings, max_depth=depth)
