"""Count what a run did, and report it, as JSON for programs and as lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

from geocrawl.model import (
    FIRST_SUB_QUEUE,
    HARVEST_TIER,
    MISSING_FOLDER,
    FrontierStats,
    Purpose,
    SettlementResult,
    SourceState,
    State,
    Status,
    SubQueue,
    Visit,
    VisitYield,
    WaitingHost,
)
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import Sentence, counted, moment


@dataclass(frozen=True, slots=True)
class LostProcess:
    """A further process of a crawl that ended unforeseen."""

    pid: int
    code: int
    """Its exit code, or the negative number of the signal that ended it."""

    @property
    def line(self) -> str:
        """Return a sentence about it."""
        how = f"was killed (signal {-self.code})" if self.code < 0 else f"ended unforeseen (exit code {self.code})"
        return f"Process {self.pid} of this crawl {how}; its pages under way were or will be visited again."

    def as_json(self) -> dict[str, int | None]:
        """Return its number, and its signal or its exit code."""
        return {
            "pid": self.pid,
            "signal": -self.code if self.code < 0 else None,
            "exit_code": self.code if self.code > 0 else None,
        }


@dataclass(slots=True)
class RunSummary:
    """The counts of one run of a crawl."""

    pages: int = 0
    """Number of answered pages, without robots.txt, redirects and probes."""
    failures: int = 0
    records: int = 0
    """Number of pages that were read and may be pages of records: data, or a page that led to records or services."""
    probes: int = 0
    valid: int = 0
    links: int = 0
    """Number of new links."""
    seconds: float = 0.0
    stopped: str = ""
    """Reason why the run ended: done, max-pages, max-time, signal, resting (only failed addresses are left, to be
    retried later), slow (only services that answer late are left), patience (hosts with addresses never visited are in
    back-off for too long), outage (a fault of this machine lasts too long).
    """
    interrupted: bool = False
    """Whether the signal that stopped the run was Ctrl-C."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Failed and refused visits by reason."""
    missed: dict[str, str] = field(default_factory=dict)
    """Pages of a harvest that could not be read, by identity, without those that are gone: the reason."""
    lost: tuple[LostProcess, ...] = ()
    """Further processes of the crawl that ended unforeseen."""

    @property
    def visits(self) -> int:
        """Return the number of visits that were answered or failed, without refused ones."""
        return self.pages + self.probes + self.failures

    def plus(self, other: RunSummary) -> RunSummary:
        """Return the counts of this process and of another one of the same run."""
        return replace(
            self,
            pages=self.pages + other.pages,
            failures=self.failures + other.failures,
            records=self.records + other.records,
            probes=self.probes + other.probes,
            valid=self.valid + other.valid,
            links=self.links + other.links,
            reasons=dict(Counter(self.reasons) + Counter(other.reasons)),
            missed=self.missed | other.missed,
        )

    def after(self, earlier: RunSummary) -> RunSummary:
        """Return the counts of this round and of the rounds before it, of one run; it ended as this round did."""
        return replace(self.plus(earlier), seconds=self.seconds + earlier.seconds)

    def count(self, visit: Visit, settled: SettlementResult) -> None:
        """Count a settled visit."""
        if visit.lease.entry.purpose is Purpose.PROBE:
            self.probes += visit.found is not None
            self.valid += visit.found is Status.VALID
        elif visit.is_page_answered:
            self.pages += 1
            is_data, is_read = "html" not in visit.content_type, visit.state is State.VISITED
            is_read = is_read or (visit.reason == "truncated" and bool(visit.candidates))
            self.records += is_read and bool(is_data or visit.links or visit.candidates)
        if visit.lease.entry.purpose is Purpose.PAGE and visit.lease.entry.rank.tier == HARVEST_TIER:
            self._note_missed(visit)
        if visit.state in (State.FAILED, State.REFUSED):
            self.failures += visit.state is State.FAILED
            self.reasons[visit.reason] = self.reasons.get(visit.reason, 0) + 1
        self.links += settled.new_links

    def _note_missed(self, visit: Visit) -> None:
        identity, is_read = visit.lease.entry.url.identity, visit.state not in (State.FAILED, State.REFUSED)
        if is_read or visit.reason in _GONE:
            self.missed.pop(identity, None)
        elif len(self.missed) < _MOST_MISSED:
            self.missed[identity] = visit.reason


_GONE = frozenset({"http-404", "http-410", MISSING_FOLDER})
_MOST_MISSED = 1_000
_MOST_NAMED = 5
_GUARDED = "Private addresses were skipped. The same command with --allow-private reads them."
_REASONS = {
    "http-401": "behind a login (401)",
    "http-403": "forbidden (403)",
    "http-404": "not found (404)",
    "http-410": "gone (410)",
    "dns": "unknown host",
    "refused": "connection refused",
    "robots": "forbidden by robots.txt",
    "robots-unreachable": "robots.txt unreachable",
    "truncated": "incomplete",
    "guard": "at a private address",
    "deny": "excluded by deny",
    "allow": "outside allow",
}
"""Reason of a failed or refused visit → in words; others are shown as their code."""


# --------------------------------------------------------------------------- the queue as a table
# A row for each of the 3×3 sub-queues, which mean the same under every strategy, with what its visits led to. Below
# them stand the tiers that the strategy serves, unless its tiers are the sub-queues.


PAGE_LEVELS = {
    2: "page relevance 2: on the topic",
    1: "page relevance 1: has words of the topic",
    0: "page relevance 0: has none",
}
LINK_LEVELS = {
    2: "link relevance 2: a keyword in address or text",
    1: "link relevance 1: an abbreviation such as GIS",
    0: "link relevance 0: neither",
}
_NONE = VisitYield(0, 0)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A row of the table: a sub-queue or a tier."""

    number: int
    """`SubQueue.number`, or the tier."""
    head: str
    """The first column: the priority by gws eq. 4, or the tier."""
    means: str
    waiting: int
    """Pages that wait."""
    visited: int
    led: int
    """Visits that led to a service which was not known before."""

    @property
    def share(self) -> float | None:
        """Return the share of visits that led to services, 0…1; None without visits."""
        return self.led / self.visited if self.visited else None

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts under stable names."""
        return {"waiting": self.waiting, "visited": self.visited, "led": self.led}


@dataclass(frozen=True, slots=True)
class QueueTable:
    """The queue, the first served first."""

    sub_queues: tuple[QueueRow, ...] = ()
    """All nine; none before the first page."""
    tiers: tuple[QueueRow, ...] = ()
    """Those with pages that wait or were visited, and with a name."""

    def as_json(self) -> dict[str, list[dict[str, object]]]:
        """Return both tables under stable names."""
        levels = [(SubQueue.read(row.number), row) for row in self.sub_queues]
        return {
            "sub_queues": [
                {"priority": each.priority, "link": int(each.link), "page": int(each.page), **row.counts}
                for each, row in levels
            ],
            "tiers": [{"tier": row.number, "means": row.means, **row.counts} for row in self.tiers],
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines of both tables, each headed by the names of its columns; 76 characters wide as a rule."""
        for head, name, rows in (("priority", "sub-queue by relevance", self.sub_queues), ("tier", "", self.tiers)):
            labels = [row.means.replace(" relevance", "") for row in rows]
            width = max(map(len, (name, *labels)))
            wide = max(len("waiting"), *(len(f"{max(row.waiting, row.visited):,}") for row in rows), 0)
            if rows:
                yield f"{head}  {name:<{width}}  {'waiting':>{wide}}  {'visited':>{wide}}  led to services"
            for row, label in zip(rows, labels, strict=True):
                share = "" if row.share is None else f"{row.led:,} ({row.share:.0%})"
                counts = f"{row.waiting:>{wide},}  {row.visited:>{wide},}  {share}"
                yield f"{row.head:>{len(head)}}  {label:<{width}}  {counts}".rstrip()


def queue_table(stats: FrontierStats, names: Mapping[int, str], *, discards_zero: bool) -> QueueTable:
    """Return the queue as a table. `names`: what each tier of the strategy means that is no sub-queue; `discards_zero`:
    whether links of priority 0 are discarded."""
    waiting, visits = stats.waiting_by_sub_queue, stats.visits_by_sub_queue
    rows = []
    for number in range(FIRST_SUB_QUEUE, -1, -1) if waiting or visits else ():
        link, page = each = SubQueue.read(number)
        note = "; start pages" if number == FIRST_SUB_QUEUE else "" if number else "; last"
        note = "; discarded" if discards_zero and not number else note
        means = Sentence("link {link}, page {page}" + note, link=int(link), page=int(page))
        rows.append(_row(number, f"{each.priority:.1f}", means, waiting, visits))
    tiers = sorted({*stats.waiting_by_tier, *stats.visits_by_tier} & names.keys(), reverse=True)
    return QueueTable(
        tuple(rows),
        tuple(_row(tier, str(tier), names[tier], stats.waiting_by_tier, stats.visits_by_tier) for tier in tiers),
    )


def _row(number: int, head: str, means: str, waiting: Mapping[int, int], visits: Mapping[int, VisitYield]) -> QueueRow:
    brought = visits.get(number, _NONE)
    return QueueRow(number, head, means, waiting.get(number, 0), brought.visited, brought.led)


# --------------------------------------------------------------------------- reports


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """The report of a crawl."""

    summary: RunSummary
    strategy: str
    database: DatabaseUrl
    seeds: int
    waiting: int
    probes_waiting: int
    services: int
    no_seed_answered: bool
    notes: tuple[str, ...] = ()
    left: tuple[WaitingHost, ...] = ()
    """Hosts with addresses never visited, in the order in which they become ready."""
    retries: int = 0
    """Number of failed addresses that will be tried again."""
    next_retry_at: float | None = None
    queue: QueueTable = QueueTable()

    def as_json(self) -> dict[str, object]:
        """Return the counts under stable names."""
        s = self.summary
        return {
            **_counts(s),
            "new_links": s.links,
            "strategy": self.strategy,
            "database": str(self.database),
            "waiting": self.waiting,
            "probes_waiting": self.probes_waiting,
            "services": self.services,
            "left": [{"host": host.name, "addresses": host.urls, "ready_at": host.ready_at} for host in self.left],
            "retries": self.retries,
            "next_retry_at": self.next_retry_at,
            "lost_processes": [process.as_json() for process in s.lost],
            **self.queue.as_json(),
        }

    def lines(self) -> list[str]:
        """Return a summary of a few lines."""
        s = self.summary
        ends = {
            "done": "the queue is empty",
            "max-pages": "the limit of pages is reached (--max-pages)",
            "max-time": "the time is up (--max-time)",
            "signal": "stopped; `geocrawl crawl` continues from here",
            "slow": "only slow services were left; `geocrawl crawl --wait` waits for them",
            "patience": "hosts are in back-off for longer than --patience; run `geocrawl crawl` later",
            "outage": "this machine could send no requests for longer than --patience; then run `geocrawl crawl`",
        }
        rate = s.pages / s.seconds if s.seconds else 0.0
        out = [
            f"{counted(s.pages, 'page')} in {s.seconds:.1f} s ({rate:.1f}/s); {counted(s.probes, 'endpoint')} probed, "
            f"{s.valid:,} of them valid.",
            f"Ended: {ends.get(s.stopped, s.stopped)}. {self._queued()}.",
            f"The catalogue contains {counted(self.services, 'valid endpoint')}: {self.database}",
        ]
        if s.stopped == "resting":
            out[1] = f"Finished. {self._retried()}: run `geocrawl crawl` again then."
        if s.stopped in ("patience", "outage"):
            out[2:2] = self._left()
        if s.reasons:
            out.insert(1, _not_read(s))
        if "guard" in s.reasons:
            out.insert(2, _GUARDED)
        out += [process.line for process in s.lost]
        if queue := list(self.queue.lines()):
            out += ["", *queue]
        if self.no_seed_answered:
            out.insert(0, "None of the given pages could be fetched (see `geocrawl why URL`).")
        return out

    def _queued(self) -> str:
        """Return how many pages and, if any, probes wait."""
        probes = f" and {counted(self.probes_waiting, 'probe')}" if self.probes_waiting else ""
        return f"Queued: {counted(self.waiting, 'page')}{probes}"

    def _left(self) -> Iterator[str]:
        """Yield a line for each of the first hosts whose addresses were not all visited, and one for retries."""
        for host in self.left[:_MOST_NAMED]:
            urls = counted(host.urls, "address")
            yield f"Not visited: {urls} of {host.name}, to be requested from {_utc(host.ready_at)} on."
        if more := self.left[_MOST_NAMED:]:
            urls = counted(sum(host.urls for host in more), "address")
            yield f"Not visited: {urls} of {counted(len(more), 'more host')}."
        if self.retries:
            yield f"{self._retried()}."

    def _retried(self) -> str:
        """Return how many failed addresses are retried, and when."""
        return f"{counted(self.retries, 'address')} failed and will be retried after {_utc(self.next_retry_at)}"


@dataclass(frozen=True, slots=True)
class HarvestReport:
    """The report of a harvest."""

    summary: RunSummary
    database: DatabaseUrl
    services: int
    since: str = ""
    """The day since which records were requested (YYYY-MM-DD); '' for all."""
    sources: tuple[SourceState, ...] = ()
    """The lists of records that were read."""
    unselected: str = ""
    """The day since which records were wanted of a server that selects by no date: all were requested; '' else."""

    @property
    def is_whole(self) -> bool:
        """Return whether pages of records were read, and of each list all that it states; of lists that state nothing,
        whether all pages were read."""
        is_read = self.summary.stopped == "done" and self.summary.records > 0
        if not self.sources and self.summary.missed:
            return False
        return is_read and all(source.state == "whole" for source in self.sources)

    @property
    def has_failed(self) -> bool:
        """Return whether no page of records was read, or a list ended before all its records were read: also one whose
        next page is one of those before it."""
        ended = {"short", "reading"} if self.summary.stopped == "done" else {"short"}
        return not self.summary.records or any(source.state in ended for source in self.sources)

    def as_json(self) -> dict[str, object]:
        """Return the counts under stable names."""
        return {
            **_counts(self.summary),
            "records_pages": self.summary.records,
            "since": self.since,
            "whole": self.is_whole,
            "sources": [asdict(source) for source in self.sources],
            "database": str(self.database),
            "services": self.services,
        }

    def lines(self) -> list[str]:
        """Return a summary of a few lines."""
        s = self.summary
        ends = {
            "done": "all is read",
            "max-pages": "the limit of pages is reached (max_pages); the same command continues",
            "max-time": "the time is up (--max-time); the same command continues",
            "signal": "stopped; the same command continues from here",
            "resting": "some addresses failed and will be retried; run the same command later",
            "slow": "only slow services were left; the same command with --wait waits for them",
            "patience": "hosts are in back-off for longer than --patience; run the same command later",
            "outage": "this machine could send no requests for longer than --patience; then run the same command",
        }
        changed = f" changed since {self.since}" if self.since else ""
        out = [
            f"{counted(s.records, 'page')} of records{changed} in {s.seconds:.1f} s; "
            f"{counted(s.probes, 'endpoint')} probed, {s.valid:,} of them valid.",
            f"Ended: {ends.get(s.stopped, s.stopped)}.",
            f"The catalogue contains {counted(self.services, 'valid endpoint')}: {self.database}",
        ]
        if s.stopped == "done" and not self.is_whole:
            out[1] = "Ended: no page is left to read, but not all records are read."
        out[2:2] = [line_of_source(source) for source in self.sources if source.state != "whole"]
        if self.unselected:
            out.insert(1, f"The server selects by no date of change: all is read, not only since {self.unselected}.")
        if not s.records:
            answered = "1 page was" if s.pages == 1 else f"{s.pages:,} pages were"
            out[:2] = [f"No page of records was read: is this the address of a catalogue? {answered} answered."]
        if s.reasons:
            out.insert(1, _not_read(s))
        if "guard" in s.reasons:
            out.insert(2, _GUARDED)
        return out

    def rows(self) -> list[tuple[object, ...]]:
        """Return for each list what its records led to (`HARVEST_COLUMNS`): endpoints that are new, were known, or are
        dead."""
        return [
            (
                each.read,
                each.stated,
                each.read - each.named,
                each.new,
                each.known,
                each.dead,
                each.waiting,
                each.address,
            )
            for each in self.sources
        ]


HARVEST_COLUMNS = ("records", "stated", "no service", "new", "known", "dead", "not probed", "catalogue")
"""Columns of `HarvestReport.rows`."""


FAMILIES = {
    "csw": "CSW",
    "geonetwork": "GeoNetwork",
    "oai": "OAI-PMH",
    "ckan": "CKAN",
    "arcgis": "ArcGIS portal",
    "opendatasoft": "OpenDataSoft",
    "udata": "udata",
    "geonode": "GeoNode",
    "socrata": "Socrata",
    "piveau": "piveau",
    "esrigeoportal": "Esri Geoportal Server",
    "ogcapi-records": "OGC API – Records",
    "collections": "a list of collections (OGC API, STAC)",
    "dcat": "a list of data sets (DCAT)",
    "hydra": "a paged catalogue (DCAT, Hydra)",
    "opensearch": "results of a search (OpenSearch)",
}
"""Family of catalogues (`SourceState.family`) → in words."""


class ListCounts:
    """Counts the records of a harvest's lists against their totals while it runs."""

    def __init__(self) -> None:
        self._lists: dict[str, SourceState] = {}

    def note(self, source: SourceState) -> str:
        """Note how far a list was read; return what a person is told of it the first time, '' later."""
        is_new = source.address not in self._lists
        self._lists[source.address] = source
        if not is_new:
            return ""
        total = (
            "does not state how many records it has"
            if source.stated is None
            else (f"states {counted(source.stated, 'record')}")
        )
        return f"{source.address} is {FAMILIES.get(source.family, source.family)} and {total}."

    @property
    def read(self) -> int:
        """Return the number of records read."""
        return sum(each.read for each in self._lists.values())

    @property
    def stated(self) -> int:
        """Return the sum of the stated totals; of a list without one what was read of it."""
        return sum(each.read if each.stated is None else each.stated for each in self._lists.values())


_SHORT = {
    "ended": "the list ends there",
    "repeats": "its server repeats a page",
    "exception": "its server answers with an exception",
    "trap:records": "the bound of pages is reached (--max-pages)",
    "max-records": "the bound of records is reached (--max-records)",
}
"""Why a list was not read whole → in words; the reasons of visits are added."""


def line_of_source(source: SourceState) -> str:
    """Return how much of a source was read, in one line: `10,000 of 25,000 records read: … (address)`."""
    why = _SHORT.get(source.reason) or _REASONS.get(source.reason) or source.reason
    if source.state == "reading":
        why = "pages are left to read"
    return f"{records_read(source)}{f': {why}' if why and source.state != 'whole' else ''} ({source.address})"


def records_read(source: SourceState) -> str:
    """Return how many records of a source were read: `10,000 of 25,000 records read`."""
    read = f"{source.read:,}" if source.stated is None else f"{source.read:,} of {source.stated:,}"
    return f"{read} records read"


def _counts(summary: RunSummary) -> dict[str, object]:
    return {
        "pages": summary.pages,
        "failures": summary.failures,
        "probes": summary.probes,
        "valid": summary.valid,
        "seconds": round(summary.seconds, 3),
        "stopped": summary.stopped,
        "reasons": summary.reasons,
    }


def _utc(at: float | None) -> str:
    return f"{moment(at)} UTC"


def _not_read(summary: RunSummary) -> str:
    """Return a line with the commonest reasons of failed and refused visits."""
    common = sorted(summary.reasons.items(), key=lambda item: (-item[1], item[0]))[:6]
    why = ", ".join(f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in common)
    return f"{counted(sum(summary.reasons.values()), 'address')} not read: {why}."
