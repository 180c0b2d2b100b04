"""Mine files of web archives for candidates, into a catalogue or into a file.

In a catalogue, services are queued to be probed, and pages become start pages. The place in the archive is stored as
evidence of the service and as the source of the start page, so `geocrawl show` and `why` print it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from geocrawl.app import wiring
from geocrawl.app.retry_policy import RetryPolicy, as_lines
from geocrawl.app.session import MAINTENANCE, Session, with_stored_depth
from geocrawl.crawler.refusals import text_rule
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.guard import refusal_by_text
from geocrawl.mining.engines import DuckDbEngine, SparkEngine
from geocrawl.mining.index import Engine
from geocrawl.mining.miner import Miner, MineReport, Reader
from geocrawl.mining.model import ARCHIVE, Find, MinedFile
from geocrawl.mining.records import Finder, RecordProcesses, RecordReader
from geocrawl.model import Candidate, Evidence, FailureCode
from geocrawl.page.document import PageReader
from geocrawl.ports import Clock
from geocrawl.priority.models import LINKS_FILE, read_links, shipped_models
from geocrawl.priority.nearness import LinkMeasure
from geocrawl.probe.registry import declarations
from geocrawl.settings import Settings
from geocrawl.store import Store, read_blocked
from geocrawl.store.upkeep.seeds import NewSeed, add_seeds
from geocrawl.urls import is_within_domains
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import date_of

ENGINES = ("duckdb", "spark")


@dataclass(frozen=True, slots=True)
class Voice:
    """How a run speaks to the person who started it."""

    say: Callable[[str], object]
    """Called with a line for each file that cannot be read, wholly or in part, and for each wait."""
    show: Callable[[str], object]
    """Called with lines of progress."""


def mine_into_catalogue(
    settings: Settings, path: DatabaseUrl, sources: Sequence[MinedFile], *, engine: str, voice: Voice
) -> MineReport:
    """Mine files into the catalogue at `path`, which is made if it does not exist.

    Files that were mined before are skipped. Raises DatabaseFault for an unusable database, EnvironmentFault when a
    library is missing.
    """
    clock = SystemClock()
    retrying = RetryPolicy(path, clock, as_lines(voice.say), limit_s=settings.database_patience_s)

    def begin(store: Store) -> Session:
        return wiring.make_session(with_stored_depth(settings, store), store, clock, MAINTENANCE)

    with retrying.opened(begin) as session:
        sink = MinedCatalogue(session, retrying)
        opted_out = frozenset(row.host for row in read_blocked(session.store.connection))
        report = _miner(settings, clock, engine, opted_out, voice).run(sources, sink)
        report.new_services, report.new_pages = sink.new_services, sink.new_pages
        return report


def mine_into_file(
    settings: Settings,
    out: Path,
    sources: Sequence[MinedFile],
    *,
    engine: str,
    catalogue: DatabaseUrl | None,
    voice: Voice,
) -> MineReport:
    """Mine files into a file of candidates. `catalogue`: its hosts that opted out are left out; None without one.

    Raises UsageError for a name without a known suffix, EnvironmentFault when the file cannot be written or a library
    is missing.
    """
    from geocrawl.mining.candidate_file import CandidateFile

    opted_out = frozenset[str]()
    if catalogue is not None and Store.exists(catalogue):
        with Store.open_readonly(catalogue) as connection:
            opted_out = frozenset(row.host for row in read_blocked(connection))
    with closing(CandidateFile(out)) as sink:
        report = _miner(settings, SystemClock(), engine, opted_out, voice).run(sources, sink)
        report.new_services, report.new_pages = sink.finish(complete=not report.failed)
        return report


def _miner(settings: Settings, clock: Clock, engine: str, opted_out: frozenset[str], voice: Voice) -> Miner:
    finder = Finder(wiring.make_detector(), LinkMeasure(read_links(shipped_models() / LINKS_FILE)))
    refusal = _refusal(settings, clock, opted_out)

    def reader(sources: Sequence[MinedFile]) -> Reader:
        if settings.processes == 1 or len(sources) == 1:
            return _make_reader(finder)
        return RecordProcesses(sources, settings.processes, lambda: _make_reader(finder))

    return Miner(finder, lambda: _make_engine(engine), reader, refusal, voice.say, voice.show)


def _make_engine(name: str) -> Engine:
    if name == "spark":
        return SparkEngine(declarations())
    return DuckDbEngine(declarations())


def _make_reader(finder: Finder) -> RecordReader:
    return RecordReader(finder, PageReader())


def _refusal(settings: Settings, clock: Clock, opted_out: frozenset[str]) -> Callable[[Find], str]:
    """Return a function that returns why an address is left out: as in a crawl, but before it is stored."""
    by_text = refusal_by_text(settings)
    of_pages = text_rule(settings, date_of(clock.now()))

    def refusal(find: Find) -> str:
        url = find.url
        if opted_out and is_within_domains(url.host, opted_out):
            return FailureCode.FORGOTTEN
        return by_text(url) or ("" if find.candidate is not None else of_pages(url))

    return refusal


class MinedCatalogue:
    """A catalogue that takes finds (`mining.miner.Sink`). Every method waits for a locked database (`RetryPolicy`)."""

    def __init__(self, session: Session, retrying: RetryPolicy) -> None:
        self._session = session
        self._retrying = retrying
        self._catalog = session.store.catalog()
        self.new_services = 0
        self.new_pages = 0

    def is_done(self, source: MinedFile) -> bool:
        """Return whether a file was mined before for this catalogue."""
        return self._session.store.facts.was_mined(source.identity)

    def take(self, source: MinedFile, finds: Sequence[Find]) -> None:
        """Queue what is not known yet."""
        services = [find.candidate for find in finds if find.candidate is not None]
        known = self._catalog.known(services).stored
        new = {(str(e.endpoint.kind), e.endpoint.key) for e in services} - known.keys()
        candidates = [candidate for find in finds if find.candidate for candidate in _with_place(find.candidate, find)]
        self._retrying.call(lambda: self._session.frontier.add_candidates(candidates))
        self.new_services += len(new)
        self._take_pages([find for find in finds if find.candidate is None])

    def done(self, source: MinedFile) -> None:
        """Store that a file was mined, so that it is not mined again."""
        self._retrying.call(lambda: self._session.store.facts.write_mined(source.identity))

    def drop(self, source: MinedFile) -> None:
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
