"""Harvest a catalogue: read its pages of records and nothing else, and probe the services that they name.

A CSW, CKAN's action API, an ArcGIS portal and a GeoNetwork are recognised by their address. Any other address is probed
and read as a page, which leads on to its records if it is a catalogue (STAC, OGC API Records, DCAT, an ArcGIS folder, a
page of a CKAN).
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

from geocrawl.app import wiring
from geocrawl.app.findings import demand_usable
from geocrawl.app.run import NO_LIMIT, run_session
from geocrawl.app.session import Environment, Session, SessionKind, with_stored_depth
from geocrawl.app.slices import ListPart, plan_round
from geocrawl.crawler.report import FAMILIES, HarvestReport, RunSummary, records_read
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Candidate, Kind, State, Url
from geocrawl.model.kinds import short_name
from geocrawl.ports import Observer
from geocrawl.sanitize import masked
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.urls import (
    arcgis_search_url,
    ckan_search_url,
    get_records_url,
    is_oai,
    list_url,
    listing_family,
    listing_url,
    oai_start,
    read_url,
    records_page,
)
from geocrawl.urls.database import DatabaseUrl
from geocrawl.urls.slices import Slice, control_of, modified_since, slice_url, ways_of
from geocrawl.wording import counted, day_of


def run_harvest(
    settings: Settings,
    path: DatabaseUrl,
    url: Url,
    *,
    since: str = "",
    max_pages: int = 0,
    observer: Observer,
    environment: Environment | None = None,
) -> HarvestReport:
    """Read the pages of records of the catalogue at `url`, and probe the services that they name.

    A harvest that was interrupted in this database is continued. `since`: read only records changed on this day
    (YYYY-MM-DD) or later, "last" for the day of the last complete harvest, '' for all. `max_pages`: pages that a person
    allows this run, 0 for no limit: the default of the setting is a crawl's, and a harvest is bounded by the total of
    its list, or the pages of a list without one. `environment`: replaces the machine's clock and the real web. Raises
    UsageError for invalid settings, DatabaseFault for an unusable database.
    """
    clock = environment.clock if environment else SystemClock()
    retrying = wiring.retry_policy(settings, path, clock, observer)

    def begin(store: Store) -> _ReadyHarvest:
        day = store.facts.harvested_on(url.identity) if since == "last" else since
        start = find_start(url, wiring.make_detector().of_url(url), since=day)
        kind = SessionKind(records_only=True, reads_found_catalogues=not start.is_counted)
        stored = with_stored_depth(settings, store)
        demand_usable(stored)
        session = wiring.make_session(stored, store, clock, kind, environment=environment)
        return _ReadyHarvest(session, start, day, _queue(session, url, start), list(start.ways))

    with retrying.opened(begin) as begun:
        store, today = begun.session.store, day_of(clock.now())
        observer.started(begun.session.stats, _notes(begun, url))
        run = retrying.call(lambda: store.start_run("harvest", settings))
        most = max_pages or NO_LIMIT
        summary = run_session(begun.session, observer, retrying, max_pages=most, run=run)
        while summary.stopped in ("done", "resting") and retrying.call(lambda: _add_more(begun)):
            left = most if most == NO_LIMIT else most - summary.pages
            summary = run_session(begun.session, observer, retrying, max_pages=left, run=run).after(summary)
        report = retrying.call(lambda: _report(begun, summary))
        if report.is_whole:
            retrying.call(lambda: store.facts.write_harvested(url.identity, today))
        return report


@dataclass(frozen=True, slots=True)
class _ReadyHarvest:
    """A harvest that is ready to run."""

    session: Session
    start: HarvestStart
    day: str
    """The day since which records are wanted; '' for all."""
    waiting: int
    """Pages of records in the queue."""
    controls: list[int]
    """Ways to select by date that are not yet tried, the one that is being tried first."""


def _queue(session: Session, url: Url, start: HarvestStart) -> int:
    """Queue the catalogue's first pages of records and probe the catalogue itself. Returns how many pages wait."""
    waiting = session.frontier.add_records(start.pages)
    if start.kind is not None:
        given = session.detector.candidate_at(url, start.kind)
        session.frontier.add_candidates([given], again=session.kind.reads_found_catalogues)
    return waiting


_NOT_OF_FILTERS = frozenset({"http-401", "http-403", "http-429", "http-503"})
"""Reasons with which a server refuses whatever is requested."""


def _add_more(begun: _ReadyHarvest) -> int:
    """Queue what the pages that were read lead to: the list in the way in which its server selects by date, or slices;
    return how many pages are new."""
    frontier, ways, whole = begun.session.frontier, begun.controls, begun.start.whole
    if not ways or whole is None or frontier.sources():
        return _add_slices(begun.session)
    state, reason = frontier.outcome(control_of(whole, ways[0]))
    is_refused = reason == "exception" or (reason.startswith("http-") and reason not in _NOT_OF_FILTERS)
    if state is State.VISITED or not is_refused:
        following = modified_since(whole, begun.day, ways[0])
        ways.clear()
    else:
        del ways[0]
        following = control_of(whole, ways[0]) if ways else whole
    return frontier.add_records([following])


def _add_slices(session: Session) -> int:
    """Queue the next slices of lists that have more records than their servers give; return how many."""
    added = 0
    for source in session.frontier.short_sources():
        parts = [
            ListPart(number, Slice(**json.loads(text)) if text else None, stated, read, reason)
            for number, text, stated, read, reason in source.lists
        ]
        ways = ways_of(source.family, source.first)
        following = plan_round(source.family, ways, source.stated, source.read, parts, session.clock.now())
        if following is None:
            continue
        pages = ((part, slice_url(source.family, source.first, part)) for part in following.slices)
        slices = {json.dumps(asdict(part)): page for part, page in pages if page is not None}
        added += session.frontier.add_slices(source.source_id, following.window, following.cut, slices)
    return added


def _report(begun: _ReadyHarvest, summary: RunSummary) -> HarvestReport:
    session, whole = begun.session, begun.start.whole
    services, sources = session.catalog.counts().get("valid", 0), session.frontier.sources()
    unselected = whole is not None and masked(list_url(whole).address) in {source.address for source in sources}
    since = begun.day if begun.start.since and not unselected else ""
    return HarvestReport(
        summary, session.store.path, services, since=since, unselected=begun.day if unselected else "", sources=sources
    )


def _notes(begun: _ReadyHarvest, url: Url) -> list[str]:
    """Return what the address is taken for, and where a harvest that was interrupted goes on."""
    family, address = begun.start.family, masked(url.address)
    notes = [
        f"{address} is taken for {family}."
        if family
        else f"{address} names no family of catalogues: what answers there is looked at."
    ]
    unfinished = [source for source in begun.session.frontier.sources() if source.state == "reading"]
    if unfinished or begun.waiting > len(begun.start.pages):
        read = "; ".join(f"{records_read(source)} ({source.address})" for source in unfinished)
        notes.append(
            f"Continuing with {counted(begun.waiting, 'queued page')} of records{f': {read}' if read else ''}."
        )
    if begun.day and not begun.start.since:
        notes.append("This kind of catalogue cannot filter by date of change: all of it is read.")
    return notes


_CKAN = re.compile(r"(?P<root>.*?)/api/(?:\d/)?action(?:/|\Z)", re.I)
_PORTAL = re.compile(r"(?P<root>.*?)/sharing(?:/rest)?(?:/|\Z)", re.I)
_GEONETWORK = re.compile(r"(?P<root>.*?)/srv(?:/|\Z)", re.I)


@dataclass(frozen=True, slots=True)
class HarvestStart:
    """The addresses with which a harvest of one catalogue starts."""

    pages: tuple[Url, ...]
    kind: Kind | None = None
    """What kind of service the catalogue's address is probed as; None: not at all."""
    since: bool = False
    """Whether the pages ask only for records changed since a day."""
    whole: Url | None = None
    """First page of all records, of a catalogue that is first asked in which of these ways it selects by date."""
    ways: range = range(0)
    family: str = ""
    """Name for people of the catalogue that the address is taken for; '' where only an answer can say."""

    @property
    def is_counted(self) -> bool:
        """Return whether the addresses of these pages of records contain a number from which the next address is
        computed."""
        return any(records_page(page) is not None and "?" in page.address for page in self.pages)


def find_start(url: Url, candidate: Candidate | None, *, since: str = "") -> HarvestStart:
    """Return the first pages of the catalogue at `url`; `candidate`: the service that its address names, if any.

    `since` (YYYY-MM-DD): request only records changed on that day or later, where the catalogue's interface can filter.
    """
    place, _, query = url.address.partition("?")
    if records_page(url) is not None and query and not since:
        return HarvestStart((url,), family="a page of records")
    if candidate is not None and candidate.endpoint.kind is Kind.CSW:
        return _start_of_csw(url, Kind.CSW, "csw", since)
    if match := _GEONETWORK.match(place):
        csw = read_url(f"{match['root']}/srv/eng/csw")
        return _start_of_csw(csw or url, None, "geonetwork", since)
    if is_oai(url):
        return HarvestStart(oai_start(url, since=since), since=bool(since), family=FAMILIES["oai"])
    if (listed := listing_url(url.address, since=since) or listing_url(url.address)) is not None:
        is_since = bool(since) and listed == listing_url(url.address, since=since)
        return HarvestStart((listed,), since=is_since, family=FAMILIES[listing_family(url)])
    for pattern, search, family in ((_CKAN, ckan_search_url, "ckan"), (_PORTAL, arcgis_search_url, "arcgis")):
        match = pattern.match(place)
        found = search(match["root"], since=since) if match else None
        if found is not None:
            return HarvestStart((found,), since=bool(since), family=FAMILIES[family])
    if candidate is not None:
        kind = candidate.endpoint.kind
        return HarvestStart((url,), kind, family=short_name(kind))
    return HarvestStart((url,), Kind.OGCAPI)  # it may be an OGC API that has records


def _start_of_csw(csw: Url, kind: Kind | None, family: str, since: str) -> HarvestStart:
    """Return the start with a CSW: its list, or for records since a day a request that shows whether it selects them.

    CSW's servers differ in the queryable and in the language, and some ignore what they do not understand."""
    whole, name = get_records_url(csw), FAMILIES[family]
    if not since:
        return HarvestStart((whole,), kind, family=name)
    ways = ways_of("csw", whole)
    return HarvestStart((control_of(whole, ways[0]),), kind, since=True, whole=whole, ways=ways, family=name)
