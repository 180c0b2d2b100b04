"""Check the entries of a list as a client would: the service, the layer, its reference system and format, one picture.

A service is asked once for what its entries share, and then for the content of each layer that an entry names, in the
reference system and the format that it names.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import chain, islice
from typing import NamedTuple

from geocrawl.app.list_entries import ListEntry
from geocrawl.app.probe import candidates_at, endpoint_place, line_of, run_probes, scratch_database
from geocrawl.crawler.report import RunSummary
from geocrawl.model import (
    Attempt,
    Candidate,
    ContentOutcome,
    ContentReport,
    Endpoint,
    Entry,
    FrontierStats,
    Kind,
    Layer,
    Lease,
    Level,
    Service,
    SettlementResult,
    Visit,
)
from geocrawl.ports import ContentCheck, ContentInterview
from geocrawl.probe.extents import crs_code
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from geocrawl.urls.database import DatabaseUrl

_REQUESTS_A_LAYER = 8
_SECONDS_A_LAYER = 20.0
_ALIKE = 0.6
"""The least similarity of a name (`difflib`) that is offered for one that is missing."""
_COMPARED_CHARS, _MOST_COMPARED = 80, 5_000
"""Characters of a name, and layers, that are compared: whole names of hundreds of characters take seconds."""


class EntryState(StrEnum):
    """What came of an entry."""

    OK = "ok"
    MOVED = "moved"
    LAYER_MISSING = "layer-missing"
    CRS_MISSING = "crs-missing"
    FORMAT_MISSING = "format-missing"
    NO_CONTENT = "no-content"
    NO_SERVICE = "no-service"
    """Nothing answers, or something else than a service that may be used."""
    NOT_CHECKED = "not-checked"


@dataclass(frozen=True, slots=True)
class EntryResult:
    """The result of one entry."""

    name: str
    url: str
    layers: tuple[str, ...]
    state: EntryState
    reason: str = ""
    """Code of the reason: that of the verdict, or of the content's outcome."""
    detail: str = ""
    nearest: str = ""
    """The name most like that of a missing layer; '' without one."""
    moved_to: str = ""
    requested: str = ""
    """The address of the last request for content."""

    @property
    def has_failed(self) -> bool:
        """Return whether a client that uses the entry gets nothing, or should use another address."""
        return self.state not in (EntryState.OK, EntryState.NOT_CHECKED)

    def as_json(self) -> dict[str, object]:
        """Return the fields under stable names."""
        return {**asdict(self), "layers": list(self.layers)}


def check_list(
    settings: Settings,
    entries: Sequence[ListEntry],
    *,
    share_with: DatabaseUrl | None = None,
    say: Callable[[str], object] = lambda text: None,
    settled: Callable[[int, int], object] = lambda done, total: None,
) -> tuple[list[EntryResult], RunSummary | None]:
    """Return a result for each entry, in their order, and the summary of the run; None when nothing was asked.

    `share_with`, `say`: as in `run_probes`. `settled` is called with the number of services that are done, and of
    all.
    """
    candidates: dict[ListEntry, Candidate] = {}
    for entry in entries:
        url = None if entry.why_not else read_url(entry.url)
        if url is not None:
            (candidates[entry],) = candidates_at([url], entry.kind)
    by_place: dict[str, list[ListEntry]] = defaultdict(list)
    for entry, candidate in candidates.items():
        by_place[endpoint_place(candidate.endpoint)].append(entry)
    if not candidates:
        return [_result(entry, None, ()) for entry in entries], None
    looks = {place: tuple(dict.fromkeys(chain.from_iterable(map(_looks, at)))) for place, at in by_place.items()}
    most = max(1, *(len(each) for each in looks.values()))
    todo = list({candidate.endpoint.key: candidate for candidate in candidates.values()}.values())
    visits = _Visits(
        len(todo), settled, any_kind={place for place, at in by_place.items() if not all(e.kind for e in at)}
    )
    with scratch_database() as path:
        summary = run_probes(
            replace(
                settings,
                maps=True,
                map_requests=_REQUESTS_A_LAYER * most,
                map_requests_per_host=_REQUESTS_A_LAYER * max(1, sum(map(len, looks.values()))),
                probe_time_s=settings.probe_time_s + _SECONDS_A_LAYER * most,
            ),
            path,
            todo,
            observer=visits,
            wants_lead=visits.wants_lead,
            share_with=share_with,
            say=say,
            content_check=lambda check: LayersCheck(check, looks),
        )
    places = {entry: endpoint_place(candidate.endpoint) for entry, candidate in candidates.items()}
    return [_result(entry, places.get(entry), visits.at.get(places.get(entry, ""), ())) for entry in entries], summary


class Look(NamedTuple):
    """The content that an entry asks for."""

    layer: str
    crs: str = ""
    format: str = ""

    @property
    def key(self) -> str:
        """Return what names it in the place of a layer (`Attempt.layer`)."""
        return "\n".join(self)


def _looks(entry: ListEntry) -> Iterator[Look]:
    return (Look(name, entry.crs, entry.format) for name in entry.layers)


@dataclass(frozen=True, slots=True)
class LayersCheck:
    """Requests content of each layer that the entries of a list name, in place of a sample (`ports.ContentCheck`)."""

    inner: ContentCheck
    looks: Mapping[str, tuple[Look, ...]]
    """Place of a service → what its entries ask for."""

    @property
    def kind(self) -> Kind:
        """Return the kind of service whose content is requested."""
        return self.inner.kind

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Check one after the other; the attempts name them (`Look.key`)."""
        attempts: list[Attempt] = []
        report = ContentReport(Level.ADVERTISED)
        for look in self.looks.get(endpoint_place(endpoint), ()):
            if (layer := _layer_named(service, look.layer)) is not None:
                report = yield from self.inner.run(endpoint, _narrowed(service, layer, look))
                attempts += (replace(attempt, layer=look.key) for attempt in report.attempts)
        return replace(report, attempts=tuple(attempts))


def _narrowed(service: Service, layer: Layer, look: Look) -> Service:
    """Return the service with one layer alone, in the reference system that a list names, if the layer has it, and in
    the format."""
    of_layer = service.narrowed_to(layer)
    if stated := [code for one in service.ancestry(layer) for code in one.crs if look.crs and _is_same(code, look.crs)]:
        layers = (replace(each, crs=()) for each in of_layer.layers[:-1])
        of_layer = replace(of_layer, layers=(*layers, replace(of_layer.layers[-1], crs=(stated[0],))))
    return replace(of_layer, formats=(look.format,)) if look.format else of_layer


def _is_same(code: str, other: str) -> bool:
    return crs_code(code).upper() == crs_code(other).upper()


def _layer_named(service: Service, name: str) -> Layer | None:
    """Return the layer of this name, None for no such layer; the prefix of a namespace may be missing."""
    alike = [layer for layer in service.layers if layer.name and name in (layer.name, layer.name.rpartition(":")[2])]
    return min(alike, key=lambda layer: layer.name != name, default=None)


class _Visits:
    """`ports.Observer` that collects the visits of each service, under whatever kind it was asked."""

    def __init__(self, total: int, settled: Callable[[int, int], object], *, any_kind: set[str]) -> None:
        """`any_kind`: places that are asked as another kind, too, when their answer names one."""
        self._total = total
        self._told = settled
        self._any_kind = any_kind
        self.at: dict[str, list[Visit]] = defaultdict(list)

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Show nothing."""

    def noted(self, text: str) -> None:
        """Show nothing."""

    def leased(self, lease: Lease) -> None:
        """Show nothing."""

    def wants_lead(self, asked: Candidate, named: Candidate) -> bool:
        """Return whether `named` is the address that was `asked`, under another kind than a list's guess."""
        place = endpoint_place(asked.endpoint)
        return place in self._any_kind and place == endpoint_place(named.endpoint) and asked != named

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        """Collect a visit."""
        assert entry.candidate is not None, "only probes are leased here"
        self.at[endpoint_place(entry.candidate.endpoint)].append(visit)
        self._told(min(len(self.at), self._total), self._total)


def _result(entry: ListEntry, place: str | None, visits: Sequence[Visit]) -> EntryResult:
    """Return what came of an entry, by the visits of its service."""
    result = EntryResult(entry.name, entry.url, entry.layers, EntryState.NOT_CHECKED)
    if place is None:
        return replace(result, detail=entry.why_not or "no web address")
    if not visits:
        return replace(result, detail="the run ended before it was asked")
    valid = [visit for visit in visits if visit.verdict and visit.verdict.service]
    visit = (valid or list(visits))[-1]
    line = line_of(visit, entry.url)
    service = visit.verdict.service if visit.verdict else None
    if service is None:
        state = EntryState.MOVED if line.moved_to else EntryState.NO_SERVICE
        if line.status == "refused" and (line.reason != "robots-unreachable" or visit.http_status is not None):
            state = EntryState.NOT_CHECKED  # it may not be asked, which says nothing of it
        return replace(result, state=state, reason=line.reason, detail=line.detail, moved_to=line.moved_to)
    attempts = visit.content_report.attempts if visit.content_report else ()
    return next(_faults(result, entry, service, attempts), _works(result, _looks(entry), attempts))


def _faults(
    result: EntryResult, entry: ListEntry, service: Service, attempts: Sequence[Attempt]
) -> Iterator[EntryResult]:
    """Yield what a client of the entry misses, the gravest first."""
    looks = {look.key: look for look in _looks(entry)}
    layers = {name: _layer_named(service, name) for name in entry.layers}
    for name, layer in layers.items():
        if layer is None:
            detail = f"the service advertises no layer {name!r}"
            yield replace(result, state=EntryState.LAYER_MISSING, detail=detail, nearest=_nearest(service, name))
    came = {attempt.layer for attempt in attempts if attempt.outcome in (ContentOutcome.OK, ContentOutcome.BLANK)}
    for key, look in looks.items():
        is_drawn = service.kind is Kind.WMS and key in came  # in that format
        if not is_drawn and (others := _other_formats(service, layers[look.layer], look.format)):
            detail = f"{look.layer} is not offered as {look.format}, but as {', '.join(others[:5])}"
            yield replace(result, state=EntryState.FORMAT_MISSING, detail=detail)
    for attempt in attempts:
        if attempt.layer in looks and attempt.layer not in came:
            state = EntryState.NOT_CHECKED if attempt.outcome is ContentOutcome.REFUSED else EntryState.NO_CONTENT
            detail = f"{looks[attempt.layer].layer}: {attempt.detail}"
            yield replace(result, state=state, reason=attempt.outcome, detail=detail, requested=attempt.url)
    for name, layer in layers.items():
        line = service.ancestry(layer) if layer is not None else ()
        codes = {crs_code(code).upper() for one in line for code in one.crs}
        if entry.crs and codes and crs_code(entry.crs).upper() not in codes:
            detail = f"{name} is not offered in {entry.crs}, but in {', '.join(sorted(codes)[:5])}"
            yield replace(result, state=EntryState.CRS_MISSING, detail=detail)


def _other_formats(service: Service, layer: Layer | None, format_: str) -> tuple[str, ...]:
    """Return the formats in which a layer is offered, if a wanted media type is not among them; other names of formats
    are each program's own."""
    offered = (layer.formats or service.formats) if layer is not None else ()
    known = {"".join(each.lower().split()) for each in offered}
    return offered if "/" in format_ and "".join(format_.lower().split()) not in known else ()


def _works(result: EntryResult, looks: Iterable[Look], attempts: Sequence[Attempt]) -> EntryResult:
    """Return the result of an entry that works, with the last content of its layers."""
    result, keys = replace(result, state=EntryState.OK), {look.key for look in looks}
    if own := [attempt for attempt in attempts if attempt.layer in keys]:
        result = replace(result, reason=own[-1].outcome, detail=own[-1].detail, requested=own[-1].url)
    return result


def _nearest(service: Service, name: str) -> str:
    """Return the layer whose name or title is most like a name; '' for none."""
    named = islice((layer for layer in service.layers if layer.name), _MOST_COMPARED)
    known = {text[:_COMPARED_CHARS].lower(): each.name for each in named for text in (each.title, each.name)}
    close = difflib.get_close_matches(name[:_COMPARED_CHARS].lower(), known, 1, _ALIKE)
    return known[close[0]] if close else ""
