"""Define what several files of the frontier write and read, and the statements by which the next URL is chosen.

Statements are SQLAlchemy Core (`store/database/core.py`); the names in `bindparam` are those of their values. The other
statements stand in the files that run them.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import compress
from typing import Any

from sqlalchemy import (
    BigInteger,
    ClauseElement,
    ColumnElement,
    FromClause,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    insert,
    literal,
    null,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from geocrawl.model import ALONE_AFTER_KILLS, LATE_TIER, Purpose, State
from geocrawl.store.database.constructs import greatest, in_list, least, upsert
from geocrawl.store.database.schema.tables import (
    COUNTER,
    ENDPOINT,
    EVIDENCE,
    HOST,
    PATTERN,
    QUERY_GROUP,
    SITE,
    URL,
    VALIDATOR,
)

_host, _url = HOST.c, URL.c

COUNT = upsert(COUNTER, "name", add=["value"])
"""Add to a running total."""
TURN = func.coalesce(select(COUNTER.c.value).where(COUNTER.c.name == "turn").scalar_subquery(), 0)
"""Number of the last settlement."""

# --------------------------------------------------------------------------- hosts

WRITE_HOST = update(HOST).where(_host.id == bindparam("host"))
"""Write columns of a host."""
ADD_HOSTS = insert(HOST).values(id=bindparam("id"), name=bindparam("name"), turn=TURN)
"""Add hosts whose ids were planned; their turn comes after those that wait already."""
SEE_HOSTS = upsert(SITE, "name", add=["hosts"]).values(
    name=bindparam("site"), hosts=bindparam("hosts"), held_at=None, held_for="", released=0
)
"""Count more hosts of a site."""
_enters = or_(
    and_(bindparam("waiting") > 0, _host.waiting == 0),
    tuple_(bindparam("tier"), bindparam("score")) > tuple_(_host.best_tier, _host.best_score),
)
ENQUEUE = WRITE_HOST.values(
    best_tier=case((_enters, bindparam("tier")), else_=_host.best_tier),
    best_score=case((_enters, bindparam("score")), else_=_host.best_score),
    waiting=_host.waiting + bindparam("waiting"),
    pages=_host.pages + bindparam("pages"),
)
"""Count URLs into a host's queue: the best of their ranks, how many are new to it, how many pages are new."""
_FREE = (_host.waiting > 0, _host.lease_until == 0)
_READY = (*_FREE, _host.parked == 0)
_BEST_HOST_FIRST = (_host.best_tier.desc(), _host.best_score.desc())
_BEST_FIRST = (_url.tier.desc(), _url.score.desc(), _url.id)


def _head(column: ColumnElement[Any], host: ColumnElement[Any], *also: ColumnElement[bool]) -> Select[Any]:
    """Return the query for a column of the first URL in a host's queue."""
    return (
        select(column).where(_url.host_id == host, _url.state == State.WAITING, *also).order_by(*_BEST_FIRST).limit(1)
    )


REFRESH = WRITE_HOST.values(
    best_tier=func.coalesce(_head(_url.tier, bindparam("host")).scalar_subquery(), 0),
    best_score=func.coalesce(_head(_url.score, bindparam("host")).scalar_subquery(), 0.0),
    waiting=_host.waiting + bindparam("more"),
    pages=_host.pages + bindparam("new_pages"),
)
"""Write the head's rank and the length of a host's queue: `more` URLs, `new_pages` seen for the first time."""
REFRESH_HEADS = (
    update(HOST)
    .where(in_list(_host.id, "hosts"))
    .values(
        best_tier=func.coalesce(_head(_url.tier, _host.id).correlate(HOST).scalar_subquery(), 0),
        best_score=func.coalesce(_head(_url.score, _host.id).correlate(HOST).scalar_subquery(), 0.0),
    )
)
"""Write the rank of the heads of several hosts' queues."""
POLITENESS = (
    *("next_at", "errors", "last_error_at", "crawl_delay_s", "asked_day", "asked", "troubled_at", "troubled_address"),
    *("refusals", "parked"),
)
"""Columns of a host's politeness, as `hosts.politeness` returns them."""
FREE_AND_REFRESH = REFRESH.values(
    {name: bindparam(name) for name in POLITENESS} | {"turn": TURN, "lease_until": 0, "lease_url": None}
)
"""The same at the end of a lease, with the host's politeness and its next turn. (Only a settled lease counts as a turn:
one that was lost with its process leaves the host where it stood among its equals; for one that was given back see
`hosts.release`.)"""
READY_HOSTS = (
    select(
        *(_host.id, _host.name, *(_host[name] for name in POLITENESS[:-1])),
        *(_host.lease_token, _host.pages, _host.best_tier, _host.best_score, _host.turn, _host.waiting),
    )
    .where(*_READY, _host.next_at <= bindparam("now"), _host.best_tier >= bindparam("least"))
    .order_by(*_BEST_HOST_FIRST, _host.turn, _host.next_at, _host.id)
    .limit(bindparam("most"))
)
"""Find the ready hosts with the best heads; of equals those that have waited longest for their turn."""
LOCK_READY_HOST = READY_HOSTS.limit(1).with_for_update(skip_locked=True)
"""The same for one host, whose row is locked where the engine locks rows: SQLite has one lock for all."""
_soon = _host.next_at <= bindparam("soon")
_is_lower = _url.tier <= bindparam("tier")
_resting = (
    select(
        *(_host.best_tier, _host.best_score),
        *(cast(null(), BigInteger).label("host"), cast(null(), BigInteger).label("token")),
        cast(null(), Text).label("owner"),
    )
    .where(*_READY, _host.best_tier <= bindparam("tier"), _soon)
    .order_by(*_BEST_HOST_FIRST)
    .limit(1)
)
_page = URL.alias("page")
_probing = (
    select(_head(_url.id, _host.id, _is_lower).correlate(HOST).scalar_subquery().label("page"))
    .where(*_READY, _host.best_tier > bindparam("tier"), _soon)
    .order_by(*_BEST_HOST_FIRST)
    .limit(bindparam("probing"))
    .subquery("probing")
)
_may_hold = or_(
    _host.best_tier >= bindparam("tier"),
    and_(
        tuple_(_host.best_tier, _host.best_score) > tuple_(bindparam("at_tier"), bindparam("at_score")),
        _host.best_score > bindparam("more_than"),
    ),
)
_not_under_way = _head(_url.id, _host.id, _is_lower, _url.id.is_distinct_from(_host.lease_url))
_behind_lease = case((_may_hold, _not_under_way.correlate(HOST).scalar_subquery()))
BEST_PAGES_SOON = union_all(
    select(_resting.subquery("resting")),
    select(_page.c.tier, _page.c.score, null(), null(), null()).join_from(
        _probing, _page, _page.c.id == _probing.c.page
    ),
    select(_page.c.tier, _page.c.score, _host.id, _host.lease_token, _host.lease_owner)
    .join_from(HOST, _page, _page.c.id == _behind_lease, isouter=True)
    .where(_host.lease_until > 0),
)
"""Read the rank of the best page of a tier or lower ones at hosts that are ready soon: of the first host whose head is
a page, of the first hosts with a probe before their pages, and, with its lease, of each leased host without the URL
under way; NULL where the head of its queue already says that no page there holds the rank (`at_tier`, `at_score`)
back, because it scores `more_than` or less.
"""
RESTING = select(_host.best_score, _host.next_at).where(
    *(*_FREE, _host.parked == 1, _host.next_at <= bindparam("until"), _host.next_at > bindparam("now")),
    *(_host.best_tier < bindparam("tier"), _host.errors < bindparam("dead_after")),
    _host.best_score > bindparam("more_than"),
)
"""Find hosts that rest for minutes and whose head is a page below the tier that scores more: its score, and when the
rest ends."""
_ready_at = select(func.min(_host.next_at).label("at")).where(*_READY)
_unparked_at = select(func.min(_host.next_at).label("at")).where(*_FREE, _host.parked == 1)
_freed_at = select(func.min(_host.lease_until).label("at")).where(_host.lease_until > 0)
_is_wanted = _host.best_tier >= bindparam("least")
_better = tuple_(_host.best_tier, _host.best_score) > tuple_(bindparam("least"), bindparam("score"))
NEXT_BETTER = select(
    _ready_at.where(_is_wanted, _better).scalar_subquery(), _freed_at.scalar_subquery(), _unparked_at.scalar_subquery()
)
"""Read when the next host with a better head is ready, when the next lease ends, and the next back-off."""


def _first_of(*times: Select[Any]) -> Select[Any]:
    found = union_all(*times).subquery("ready")
    return select(func.min(found.c.at))


NEXT_READY = _first_of(*(each.where(_is_wanted) for each in (_ready_at, _unparked_at, _freed_at)))
"""Read when the next host with work of a tier or higher ones is ready: it keeps its delay, backs off, or is leased."""
NEXT_READY_ANY = _first_of(_ready_at, _unparked_at, _freed_at)
"""Read when the next host with any work is ready, by an index: no tier is compared."""
_now: ColumnElement[float] = bindparam("now")
_retried = select(literal("retry"), _url.id).where(_url.retry_at.is_not(None), _url.retry_at <= _now)
DUE = union_all(
    select(literal("rest"), _host.id).where(*_FREE, _host.parked == 1, _host.next_at <= _now),
    select(literal("lease"), _host.id).where(_host.lease_until > 0, _host.lease_until <= _now),
    _retried.where(_url.purpose == Purpose.PAGE),
    _retried.where(_url.purpose == Purpose.PROBE),
).limit(bindparam("most"))
"""Find what is due: hosts whose back-off ended, leases that expired, failed URLs to be tried again."""
ANY_LEASED = select(literal(1)).where(_host.lease_until > 0, _host.waiting > 0).limit(1)
"""Read whether a leased host has queued URLs."""
LEASE = WRITE_HOST.values(
    lease_until=bindparam("until"),
    lease_token=_host.lease_token + 1,
    lease_url=bindparam("url"),
    lease_owner=bindparam("owner"),
)
"""Lease a host for one of its URLs."""
COUNT_KILLED = (
    update(URL)
    .values(kills=_url.kills + 1)
    .where(
        _url.state == State.WAITING,
        or_(_url.kills < ALONE_AFTER_KILLS, bindparam("alone") == 1),
        _url.id == select(_host.lease_url).where(_host.id == bindparam("host")).scalar_subquery(),
    )
    .returning(_url.id, _url.kills)
)
"""Count a kill of the process that visited the URL for which a host was leased; `alone`: 1 when it visited no other.
"""
FORGET_DUE = (
    update(ENDPOINT)
    .values(due_at=None)
    .where(ENDPOINT.c.id == select(_url.endpoint_id).where(_url.id == bindparam("url")).scalar_subquery())
)
"""Let the endpoint of a URL be due for no probe."""
_pace_s = greatest(bindparam("delay_s"), least(func.coalesce(_host.crawl_delay_s, 0), bindparam("most_s")))
FREE_UNSETTLED = WRITE_HOST.values(
    lease_until=0,
    next_at=greatest(
        _host.next_at, bindparam("now") + case((_pace_s > 0, _pace_s + bindparam("under_way_s")), else_=0)
    ),
)
"""End a lease that was not settled. Its last request may just have been answered, so the delay is kept (from `now`;
`most_s` is the longest Crawl-delay), or may be under way for `under_way_s`, if any delay is kept at all."""
PARK = WRITE_HOST.values(parked=1).where(_host.next_at > bindparam("later"))
"""Park a host that rests until later."""


def _next_retry(purpose: Purpose) -> Select[Any]:
    return (
        select(greatest(_url.retry_at, _host.next_at))
        .join_from(URL, HOST, _host.id == _url.host_id)
        .where(_url.retry_at.is_not(None), _url.purpose == purpose, _url.tier >= bindparam("least"))
        .order_by(_url.retry_at)
        .limit(1)
    )


NEXT_RETRIED_PROBE = _next_retry(Purpose.PROBE)
"""Read when the next failed probe of a tier or higher ones is tried again, its host permitting."""
NEXT_RETRIED = select(NEXT_RETRIED_PROBE.scalar_subquery(), _next_retry(Purpose.PAGE).scalar_subquery())
"""The same, and when the next page is."""
_never_failed = (
    select(literal(1))
    .where(_url.host_id == _host.id, _url.state == State.WAITING, _url.tier >= bindparam("least"), _url.attempts == 0)
    .exists()
)
WAITING_HOSTS = (
    select(_host.name, greatest(_host.next_at, _host.lease_until).label("ready_at"), _host.waiting)
    .where(
        *(_host.waiting > 0, _host.best_tier >= bindparam("least"), _host.errors < bindparam("dead_after")),
        _never_failed,
    )
    .order_by("ready_at", _host.id)
)
"""Find hosts that have queued URLs of a tier or higher whose visits did not fail, the first to be ready first. Excludes
hosts that failed `dead_after` times in a row."""

WAITED_FOR = select(
    select(func.min(_host.next_at))
    .where(*_FREE, _host.parked.in_([0, 1]), _host.best_tier >= bindparam("least"))
    .where(_host.next_at <= bindparam("until"), _host.errors < bindparam("dead_after"), _never_failed)
    .scalar_subquery(),
    select(literal(1)).where(_host.lease_until > 0, _host.best_tier >= bindparam("least")).exists(),
)
"""Read for what a run waits before it serves lower tiers: when the first host with URLs of a tier or higher ones is
ready, of those that `WAITING_HOSTS` finds, and whether any is leased."""

_page_never_failed = (
    select(literal(1))
    .where(_url.host_id == _host.id, _url.state == State.WAITING, _url.purpose == Purpose.PAGE, _url.attempts == 0)
    .exists()
)
ANY_PAGE = (
    select(literal(1))
    .where(_host.waiting > 0, _host.next_at <= bindparam("until"), _host.errors < bindparam("dead_after"))
    .where(_page_never_failed)
    .limit(1)
)
"""Read whether a page whose visit did not fail waits at a host that is ready in time and not dead."""

# --------------------------------------------------------------------------- urls

WRITE_URL = update(URL).where(_url.id == bindparam("url"))
"""Write columns of a URL."""
FIND_URL = select(_url.id, _url.state, _url.reason).where(_url.key == bindparam("key"))
"""Read the state of a page or probe."""
KNOWN_URLS = select(
    *(_url.key, _url.id, _url.depth, _url.tier, _url.score, _url.state, _url.settled_at.is_not(None), _url.sub_queue)  #
).where(in_list(_url.key, "keys"))
"""Read the pages and probes that are known."""
FORGET_VALIDATORS = delete(VALIDATOR).where(VALIDATOR.c.url_id == bindparam("url"))
"""Drop a URL's validators."""
PLACE = select(
    *(_url.purpose, _url.state, _url.depth, _url.tier, _url.score, _url.host_id, _url.sub_queue, _url.reason)  #
).where(_url.id == bindparam("url"))
"""Read the current row of a URL outside a visit."""
_highest = [func.coalesce(select(func.max(table.c.id)).scalar_subquery(), 0) for table in (URL, HOST)]
_HIGHEST_IDS = select(literal("ids"), cast(null(), Text), *_highest)
_key = cast(PATTERN.c.key, Text)
_FACTS = (
    select(literal("host"), _host.name, _host.id, _host.pages).where(in_list(_host.name, "hosts")),
    select(literal("site"), SITE.c.name, SITE.c.hosts, null()).where(in_list(SITE.c.name, "sites")),
    select(literal("queries"), cast(QUERY_GROUP.c.key, Text), QUERY_GROUP.c.seen, null()).where(
        in_list(QUERY_GROUP.c.key, "queries")
    ),
    select(literal("pattern"), _key, PATTERN.c.fruitless, PATTERN.c.finds).where(in_list(PATTERN.c.key, "patterns")),
)


@lru_cache
def facts(*wanted: bool) -> ClauseElement:
    """Return the statement that reads what decides on addresses that nobody knew: the highest ids, and those of hosts,
    sites, queries and patterns that are wanted. (A list costs 10 µs though it is empty.)"""
    return union_all(_HIGHEST_IDS, *compress(_FACTS, wanted))


_queued = (
    select(
        *(_url.id, _url.key, _url.address, _url.purpose, _url.depth, _url.tier, _url.score, _url.attempts, _url.hops),
        *(_url.revisit_s, _url.endpoint_id, _url.sub_queue, _url.kills),
    )
    .where(_url.host_id == bindparam("host"), _url.state == State.WAITING)
    .order_by(*_BEST_FIRST)
    .limit(bindparam("most"))
    .subquery("queued")
)
_stored = EVIDENCE.alias("stored")
_first_evidence = select(func.min(_stored.c.id)).where(_stored.c.endpoint_id == ENDPOINT.c.id).scalar_subquery()
HEADS = (
    select(
        *(column for column in _queued.c if column.name not in ("endpoint_id", "sub_queue", "kills")),
        *(ENDPOINT.c.last_ok.is_(None), ENDPOINT.c.site, ENDPOINT.c.kind, ENDPOINT.c.key, ENDPOINT.c.url),
        *(ENDPOINT.c.weak, EVIDENCE.c.signal, EVIDENCE.c.page, EVIDENCE.c.link, EVIDENCE.c.anchor),
        *(_queued.c.sub_queue, _queued.c.kills, ENDPOINT.c.every_s, ENDPOINT.c.whole_at),
    )
    .select_from(_queued)
    .outerjoin(ENDPOINT, and_(_queued.c.purpose == Purpose.PROBE, ENDPOINT.c.id == _queued.c.endpoint_id))
    .outerjoin(EVIDENCE, EVIDENCE.c.id == _first_evidence)
    .order_by(_queued.c.tier.desc(), _queued.c.score.desc(), _queued.c.id)
)
"""Read the first URLs of a host's queue; probes with their endpoint and the evidence that was stored first."""
VALIDATORS = (
    select(VALIDATOR.c.address, VALIDATOR.c.etag, VALIDATOR.c.modified)
    .join_from(VALIDATOR, URL, _url.id == VALIDATOR.c.url_id)
    .outerjoin(ENDPOINT, ENDPOINT.c.id == _url.endpoint_id)
    .where(
        *(VALIDATOR.c.url_id == bindparam("url"), VALIDATOR.c.read_at > bindparam("after")),
        or_(_url.purpose == Purpose.PAGE, ENDPOINT.c.status == "valid"),
    )
)
"""Read a URL's validators, if it was read whole after a time and, as a service, has been valid since."""
QUERIES_SEEN = select(QUERY_GROUP.c.seen).where(QUERY_GROUP.c.key == bindparam("key"))
"""Read the number of query variants seen of a path."""


def is_rankable(url: FromClause) -> ColumnElement[bool]:
    """Return the condition that a URL is a page that waits above the lowest tier, or that the present strategy
    dropped."""
    dropped = and_(url.c.state == State.REFUSED, url.c.reason == "unranked")
    waits = and_(url.c.state == State.WAITING, url.c.tier != LATE_TIER)
    return and_(url.c.purpose == Purpose.PAGE, or_(waits, dropped))


# --------------------------------------------------------------------------- batches

_of_batch = (
    select(literal(1))
    .where(_url.host_id == _host.id, _url.state == State.WAITING, _url.tier == bindparam("tier"))
    .exists()
)
BATCH_GOES_ON = union_all(
    select(literal(1)).where(*_READY, _host.best_tier >= bindparam("tier"), _of_batch),
    select(literal(1)).where(_host.lease_until > 0, _of_batch),
).limit(1)
"""Read whether a page of the batch waits on a host that does not back off, or is leased."""
_IN_ORDER = (_host.waiting > 0, _host.parked == 0)
COUNT_HEADS = select(func.count()).select_from(HOST).where(*_IN_ORDER, _host.best_tier >= bindparam("tier"))
"""Count hosts that do not back off and whose head is of a tier or higher ones."""
BEST_HOSTS = (
    select(_host.id, case((_host.lease_until > 0, _host.lease_url)))
    .where(*_IN_ORDER, _host.best_tier > LATE_TIER)
    .order_by(*_BEST_HOST_FIRST, _host.id)
    .limit(bindparam("most"))
)
"""Find hosts that do not back off, the best first, with the URL that is under way."""
BEST_PAGES = (
    select(_url.id, _url.tier, _url.score)
    .where(_url.host_id == bindparam("host"), _url.state == State.WAITING, _url.purpose == Purpose.PAGE)
    .where(_url.tier > LATE_TIER)
    .order_by(*_BEST_FIRST)
    .limit(bindparam("most"))
)
"""Find the best pages of a host."""
