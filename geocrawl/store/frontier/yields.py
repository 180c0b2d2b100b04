"""Read what led to services: which signals named them, which links led to them, from which start pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Label, case, func, select, union

from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import ENDPOINT, EVIDENCE, SEED, URL
from geocrawl.store.frontier.outlinks import unpack_outlinks
from geocrawl.store.frontier.statements import READ_OUTLINKS

_SIGNALS_OF_ENDPOINT = (
    select(EVIDENCE.c.endpoint_id, func.count(EVIDENCE.c.signal.distinct()).label("signals"))
    .group_by(EVIDENCE.c.endpoint_id)
    .cte("named")
)
_IS_VALID = ENDPOINT.c.status == "valid"
_CANDIDATES = func.count(ENDPOINT.c.id.distinct()).label("candidates")


def _count_where(condition: ColumnElement[bool], label: str) -> Label[int]:
    return func.count(case((condition, ENDPOINT.c.id)).distinct()).label(label)


_VALID = _count_where(_IS_VALID, "valid")
_YIELD = (
    select(
        *(EVIDENCE.c.signal, ENDPOINT.c.kind, _CANDIDATES, _count_where(ENDPOINT.c.status.is_not(None), "probed")),
        *(_VALID, _count_where(_IS_VALID & (_SIGNALS_OF_ENDPOINT.c.signals == 1), "alone")),
    )
    .select_from(
        EVIDENCE.join(ENDPOINT, ENDPOINT.c.id == EVIDENCE.c.endpoint_id).join(
            _SIGNALS_OF_ENDPOINT, _SIGNALS_OF_ENDPOINT.c.endpoint_id == ENDPOINT.c.id
        )
    )
    .group_by(EVIDENCE.c.signal, ENDPOINT.c.kind)
    .order_by(_VALID.desc(), _CANDIDATES.desc(), EVIDENCE.c.signal, ENDPOINT.c.kind)
)


@dataclass(frozen=True, slots=True)
class SignalYield:
    """Candidates of one kind that one signal named."""

    signal: str
    """As in `Evidence.signal`: query, path, text, script, script-file, form, sibling …"""
    kind: str
    candidates: int
    """Endpoints that it named."""
    probed: int
    """Of these, with a verdict."""
    valid: int
    alone: int
    """Valid ones that no other signal named."""


def signal_yields(connection: Connection) -> list[SignalYield]:
    """Return a row for each signal and kind, the most valid endpoints first."""
    return [SignalYield(*row) for row in connection.execute(_YIELD)]


# --------------------------------------------------------------------------- links

_PROBED = URL.alias("probed")
_ON_PAGE = (
    select(_PROBED.c.found_on.label("id"))
    .distinct()
    .select_from(_PROBED.join(ENDPOINT, ENDPOINT.c.id == _PROBED.c.endpoint_id))
    .where(_PROBED.c.purpose == "probe", ENDPOINT.c.status == "valid", _PROBED.c.found_on.is_not(None))
    .cte("page_with_a_service")
)
_NAMING = URL.alias("naming")
_LED = union(
    select(_ON_PAGE.c.id),
    select(_NAMING.c.found_on)
    .select_from(_NAMING.join(_ON_PAGE, _ON_PAGE.c.id == _NAMING.c.id))
    .where(_NAMING.c.found_on.is_not(None)),
).cte("led")
_PARENT = URL.alias("parent")
_FINDS = (
    select(func.coalesce(URL.c.anchor, ""), func.coalesce(_PARENT.c.title, ""), URL.c.id.in_(select(_LED.c.id)))
    .select_from(URL.join(_PARENT, _PARENT.c.id == URL.c.found_on))
    .where(URL.c.purpose == "page", URL.c.state == "visited")
    .order_by(URL.c.id)
)


def link_finds(connection: Connection) -> Iterator[tuple[str, str, bool]]:
    """Yield (anchor, title of the page with the link, whether the link led to a valid service) for the best link to
    every visited page but seeds, in the order in which the pages were first seen.

    A link led to a service when its target, or a page that was found there (a hop or two), names the service. The
    database stores no context of a link; the title of its page is the nearest substitute.
    """
    for anchor, title, led in connection.execute(_FINDS):
        if anchor or title:
            yield anchor, title, bool(led)


# --------------------------------------------------------------------------- start pages

_BATCH = 1000

_START = URL.alias("start")
_IS_PROBE = URL.c.purpose == "probe"
# Start pages; and the probes of those that are a service's address themselves.
_START_PAGES = union(
    select(_START.c.id, SEED.c.address)
    .select_from(SEED.join(_START, _START.c.address == SEED.c.address))
    .with_hint(_START, "INDEXED BY url_seed", "sqlite")
    .where(_START.c.depth == 0, _START.c.purpose == "page"),
    select(URL.c.id, SEED.c.address)
    .select_from(
        SEED.join(EVIDENCE, EVIDENCE.c.link == SEED.c.address).join(URL, URL.c.endpoint_id == EVIDENCE.c.endpoint_id)
    )
    .where(EVIDENCE.c.signal == "given", _IS_PROBE),
).order_by("id")
_OF_ENDPOINTS = ENDPOINT.join(URL, URL.c.endpoint_id == ENDPOINT.c.id)
# Endpoints, with the page or the other endpoint that names them.
_NAMED_ENDPOINTS = (
    select(URL.c.id, URL.c.found_on).select_from(_OF_ENDPOINTS).where(_IS_PROBE, URL.c.found_on.is_not(None))
)
_VALID_ENDPOINTS = (
    select(URL.c.id, func.coalesce(ENDPOINT.c.service_id, -ENDPOINT.c.id))
    .select_from(_OF_ENDPOINTS)
    .where(_IS_VALID, _IS_PROBE)
)


def services_by_seed(connection: Connection) -> dict[str, int]:
    """Return how many valid services each start page led to, by its address; start pages without any are left out.

    Each service belongs to the start page that is the fewest links away; an endpoint that several pages name counts for
    the page with the best link to it. The page on which a URL was found (`url.found_on`) is no help: a better link that
    is read later replaces the first one, which can form circles. So the links of all visited pages are walked from all
    start pages at once, breadth first; that takes about 100 bytes of memory a URL.
    """
    starts: list[tuple[int, str]] = connection.execute(_START_PAGES).fetchall()
    owners = _owners(connection, [url_id for url_id, _ in starts])
    services = defaultdict[str, set[int]](set)
    for url_id, service in connection.execute(_VALID_ENDPOINTS):
        if owner := owners.get(url_id):
            services[starts[owner - 1][1]].add(service)
    return {address: len(found) for address, found in services.items()}


def _owners(connection: Connection, starts: list[int]) -> dict[int, int]:
    """Return for each URL the number (from 1) of the start page that is the fewest links away; URLs that no start page
    leads to are left out."""
    named = defaultdict[int, list[int]](list)
    for url_id, found_on in connection.execute(_NAMED_ENDPOINTS):
        named[found_on].append(url_id)
    owners = {url_id: number for number, url_id in enumerate(starts, 1)}
    level = list(owners)
    while level:
        following = []
        for sources in _batched(level):
            links = _links(connection, sources)
            for source in sources:
                for target in (*links.get(source, ()), *named.get(source, ())):
                    if target not in owners:
                        owners[target] = owners[source]
                        following.append(target)
        level = following
    return owners


def _batched(ids: list[int]) -> Iterator[list[int]]:
    """Yield ids in batches, so that few pages' links are in memory at once."""
    for begin in range(0, len(ids), _BATCH):
        yield ids[begin : begin + _BATCH]


def _links(connection: Connection, url_ids: list[int]) -> dict[int, Sequence[int]]:
    rows = connection.execute(READ_OUTLINKS, {"pages": url_ids}).fetchall()
    return {url_id: [target for part in unpack_outlinks(blob) for target in part] for url_id, blob in rows}
