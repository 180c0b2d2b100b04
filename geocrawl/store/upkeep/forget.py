"""Opt a host out: remove everything that the database stores about the host and its subdomains, and block them all.

The first transaction blocks the hosts and ends their leases, so that nothing of them arrives any more; then short ones
remove what there is. A removal that was killed goes on when the command is repeated, and at the daemon's next tidying
(`finish_forgetting`). Of each page an empty row stays, without address and text, so that its id, which other pages'
links and running processes may refer to, never names another page. Recorded answers (WARC files) are not touched. A
strategy keeps what it learnt from the host; feedback that it has yet to learn from goes with its next dump.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Table, bindparam, delete, func, null, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from geocrawl.model import State
from geocrawl.store.catalogue.write.services import ServiceWriter
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import greatest, in_list, is_host_or_subdomain
from geocrawl.store.database.database import Database
from geocrawl.store.database.opt_out import FORGETS, FORGOTTEN
from geocrawl.store.database.schema.tables import (
    BLOCKED,
    CHANGE,
    DESCRIPTION,
    DOWNTIME,
    ENDPOINT,
    EVIDENCE,
    HEALTH_EVENT,
    HOST,
    META,
    OUTLINKS,
    PROBE,
    PROBE_SUM,
    PROOF,
    ROBOTS,
    SAME_SERVICE,
    SEED,
    SERVICE,
    SERVICE_ALIAS,
    SOURCE,
    SOURCE_LIST,
    SOURCE_RECORD,
    SOURCE_SERVICE,
    THUMBNAIL,
    URL,
)
from geocrawl.store.database.steps import ROWS, ChunkedWork, batches, run
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import CounterChanges
from geocrawl.store.frontier.page_store import drop_page
from geocrawl.urls import is_within_domains, read_url

_NO_ADDRESS = "http://forgotten.invalid/"  # RFC 2606: a name that nobody can have
_UNFINISHED = "forgetting:"
"""Facts of this name and a host: its removal has begun and not ended."""
_OF_ENDPOINT: dict[Table, Column[Any]] = {
    **{table: table.c.id for table in (EVIDENCE, PROBE, HEALTH_EVENT, CHANGE)},
    **{table: table.c.endpoint_id for table in (PROBE_SUM, PROOF, THUMBNAIL, DESCRIPTION)},
    SERVICE_ALIAS: SERVICE_ALIAS.c.old,
}
"""Table of rows that belong to an endpoint → the column by which they are deleted, a few rows for each value."""
_OF_SOURCE: dict[Table, Column[Any]] = {
    SOURCE_RECORD: SOURCE_RECORD.c.source_id,
    SOURCE_SERVICE: SOURCE_SERVICE.c.source_id,
    SOURCE_LIST: SOURCE_LIST.c.source_id,
    SOURCE: SOURCE.c.id,
}
_INDEXED = tuple(table for table in _OF_ENDPOINT if table not in (CHANGE, SERVICE_ALIAS))
_ENDPOINTS_AT_ONCE = 100
_HOSTS = select(HOST.c.id, HOST.c.name).where(is_host_or_subdomain(HOST.c.name, "host"))
_IS_ON_HOST = is_host_or_subdomain(ENDPOINT.c.host, "host")
_ENDPOINTS = (
    select(ENDPOINT.c.id, func.coalesce(SERVICE.c.layer_count, 0))
    .select_from(ENDPOINT.outerjoin(SERVICE, SERVICE.c.id == ENDPOINT.c.service_id))
    .where(_IS_ON_HOST)
    .order_by(ENDPOINT.c.service_id, ENDPOINT.c.id)
)
_ANY_OF_HOST = select(ENDPOINT.c.id).where(ENDPOINT.c.service_id == bindparam("service"), _IS_ON_HOST).limit(1)
_SERVICES = select(ENDPOINT.c.service_id).distinct().where(in_list(ENDPOINT.c.id, "ids"))
_PAGE_IDS = select(URL.c.id).where(in_list(URL.c.host_id, "hosts"), func.coalesce(URL.c.reason, "") != FORGOTTEN)
_PAGES = select(
    *(URL.c.id, URL.c.purpose, URL.c.state, URL.c.tier, func.coalesce(URL.c.reason, ""), URL.c.sub_queue)  #
).where(in_list(URL.c.id, "ids"))
_EMPTY_PAGE = (
    update(URL)
    .where(URL.c.id == bindparam("page"))
    .values(
        {column.name: null() for column in URL.c if column.nullable}
        | {"key": -URL.c.id, "address": _NO_ADDRESS, "state": State.REFUSED, "reason": FORGOTTEN}
        | {"depth": greatest(URL.c.depth, 1), "tier": 0, "score": 0}
    )
)
_PAGE = URL.alias("page")
# Links from emptied pages to others, whose texts go.
_ANCHORS = (
    select(URL.c.id)
    .select_from(URL.join(_PAGE, _PAGE.c.id == URL.c.found_on))
    .where(URL.c.anchor.is_not(None), _PAGE.c.state == State.REFUSED, _PAGE.c.reason == FORGOTTEN)
)
_DROP_ANCHOR = update(URL).where(URL.c.id == bindparam("page")).values(anchor=None)
_DROP_LINKS = delete(OUTLINKS).where(OUTLINKS.c.url_id == bindparam("page"))
_OF_HOST = update(HOST).where(HOST.c.id == bindparam("number"))
_FREE_HOST = _OF_HOST.values(
    **{"waiting": 0, "pages": 0, "best_tier": 0, "best_score": 0, "lease_until": 0, "lease_url": None},
    lease_token=HOST.c.lease_token + 1,
)
_WAITING = (URL.c.host_id == HOST.c.id, URL.c.state == State.WAITING)
_NUMBER = select(func.count()).select_from(URL).where(*_WAITING).scalar_subquery()
_BEST = select(URL.c.tier).where(*_WAITING).order_by(URL.c.tier.desc(), URL.c.score.desc()).limit(1)
_RESTORE_QUEUE = _OF_HOST.values(
    waiting=_NUMBER,
    pages=_NUMBER,
    best_tier=func.coalesce(_BEST.scalar_subquery(), 0),
    best_score=func.coalesce(_BEST.with_only_columns(URL.c.score).scalar_subquery(), 0),
)
_new = insert(BLOCKED)
_BLOCK = _new.on_conflict_do_update(index_elements=["host"], set_={"reason": _new.excluded.reason})
_UNBLOCK = delete(BLOCKED).where(BLOCKED.c.host == bindparam("host"))
_NAMED = select(META.c.name).where(META.c.name.like(bindparam("names")))
_UNTIE = update(URL).where(in_list(URL.c.endpoint_id, "ids")).values(endpoint_id=None)
_UNTIE_SAME = delete(SAME_SERVICE).where(
    or_(in_list(SAME_SERVICE.c.first_id, "ids"), in_list(SAME_SERVICE.c.second_id, "ids"))
)
_DROP_DOWNTIMES = delete(DOWNTIME).where(is_host_or_subdomain(DOWNTIME.c.host, "host"))
_DROP_ENDPOINTS = delete(ENDPOINT).where(in_list(ENDPOINT.c.id, "ids"))


@dataclass(frozen=True, slots=True)
class RemovalCounts:
    """Counts of what was removed of a host."""

    pages: int
    endpoints: int
    services: int
    """Services that no endpoint of another host offers."""


def forget(database: Database, host: str, reason: str, at: float) -> RemovalCounts:
    """Remove everything stored about `host` (as `urls` spells it) and its subdomains, and block them."""
    with database.transaction:
        database.connection.execute(_BLOCK, {"host": host, "reason": reason, "at": at})
        database.write_meta(_UNFINISHED + host, b"")
        _free_hosts(database.connection, host)
        database.connection.execute(sql.COUNT, {"name": FORGETS, "value": 1})
    return run(_remove(database, host))


def finish_forgetting(database: Database) -> ChunkedWork[None]:
    """Remove what is left of hosts whose removal was killed."""
    rows = database.connection.execute(_NAMED, {"names": f"{_UNFINISHED}%"}).fetchall()
    for (name,) in rows:
        yield from _remove(database, name.removeprefix(_UNFINISHED))


def undo(database: Database, host: str) -> bool:
    """End the opt-out of a host, which is then like one that was never seen. Returns whether it was blocked.

    After a removal that was killed, the pages that it left wait again.
    """
    with database.transaction:
        removed = database.connection.execute(_UNBLOCK, {"host": host}).rowcount
        database.delete_meta(_UNFINISHED + host)
        _restore_queues(database.connection, host)
        database.connection.execute(sql.COUNT, {"name": FORGETS, "value": 1})
    return bool(removed)


# --------------------------------------------------------------------------- in transactions of their own


def _remove(database: Database, host: str) -> ChunkedWork[RemovalCounts]:
    """Remove everything that is stored about a blocked host and its subdomains."""
    connection = database.connection
    pages = yield from _empty_pages(database, host)
    yield from _delete(database, EVIDENCE.c.id, _values_on_hosts(connection, EVIDENCE.c.id, EVIDENCE.c.page, host))
    endpoints, services = yield from _remove_endpoints(database, host)
    for column in (SEED.c.address, ROBOTS.c.origin):
        yield from _delete(database, column, _values_on_hosts(connection, column, column, host))
    with database.transaction:
        for (name,) in connection.execute(_NAMED, {"names": "harvest:%"}).fetchall():
            if _lies_beneath(name.partition(":")[2], host):
                database.delete_meta(name)
        for number in _values_on_hosts(connection, SOURCE.c.id, SOURCE.c.address, host):
            for table, column in _OF_SOURCE.items():
                connection.execute(delete(table).where(column == bindparam("source")), {"source": number})
        connection.execute(_DROP_DOWNTIMES, {"host": host})
        _free_hosts(connection, host)
        database.delete_meta(_UNFINISHED + host)
        connection.execute(sql.COUNT, {"name": FORGETS, "value": 1})
    return RemovalCounts(pages, endpoints, services)


def _empty_pages(database: Database, host: str) -> ChunkedWork[int]:
    """Empty the rows of all pages and probes of the hosts. Returns how many pages were known."""
    connection, pages = database.connection, 0
    hosts = _hosts(connection, host)
    for batch in batches(row[0] for row in connection.execute(_PAGE_IDS, {"hosts": hosts}).fetchall()):
        with database.transaction:
            pages += _empty(connection, batch)
        yield
    for batch in batches({"page": row[0]} for row in connection.execute(_ANCHORS).fetchall()):
        with database.transaction:
            connection.executemany(_DROP_ANCHOR, batch)
        yield
    return pages


def _remove_endpoints(database: Database, host: str) -> ChunkedWork[tuple[int, int]]:
    """Delete endpoints and all rows that refer to them. Returns how many endpoints and services were deleted."""
    connection, services = database.connection, 0
    found = connection.execute(_ENDPOINTS, {"host": host}).fetchall()
    ids = {"ids": [row[0] for row in found]}
    for table, key in _OF_ENDPOINT.items():
        rows = connection.execute(select(key).where(in_list(table.c.endpoint_id, "ids")), ids).fetchall()
        yield from _delete(database, key, list(dict.fromkeys(row[0] for row in rows)))
    for batch in _endpoint_batches(found):
        with _without_foreign_keys(database):
            services += _remove_some_endpoints(connection, host, batch)
        yield
    return len(found), services


def _delete(database: Database, column: Column[Any], values: Sequence[object]) -> ChunkedWork[None]:
    """Delete the rows of the column's table that have one of these values in it."""
    statement = delete(column.table).where(column == bindparam("value"))
    for batch in batches({"value": value} for value in values):
        with database.transaction:
            database.connection.executemany(statement, batch)
        yield


@contextmanager
def _without_foreign_keys(database: Database) -> Iterator[None]:
    """Run a transaction that deletes endpoints without checks of foreign keys. For each endpoint SQLite would search
    all of `change` for rows that refer to it, for which there is no index: 0.03 s with 100,000 rows."""
    with database.connection.foreign_keys_off(), database.transaction:
        yield


# --------------------------------------------------------------------------- inside a transaction


def _free_hosts(connection: Connection, host: str) -> None:
    """End the leases of the hosts and empty their queues."""
    connection.executemany(_FREE_HOST, [{"number": each} for each in _hosts(connection, host)])


def _restore_queues(connection: Connection, host: str) -> None:
    """Count the waiting pages of the hosts, whose queues were emptied when their removal began."""
    connection.executemany(_RESTORE_QUEUE, [{"number": each} for each in _hosts(connection, host)])


def _empty(connection: Connection, ids: Sequence[int]) -> int:
    """Empty rows of pages and probes. Returns how many of them were pages."""
    counters, pages = CounterChanges(), 0
    for _, purpose, state, tier, reason, sub_queue in connection.execute(_PAGES, {"ids": ids}).fetchall():
        pages += purpose == "page"
        counters.move(purpose, (state, tier), (State.REFUSED, 0), sub_queue)
        counters.refuse(FORGOTTEN, 1)
        if state == State.REFUSED:
            counters.refuse(reason, -1)
    for statement in (_EMPTY_PAGE, _DROP_LINKS):
        connection.executemany(statement, [{"page": url_id} for url_id in ids])
    connection.executemany(sql.FORGET_VALIDATORS, [{"url": url_id} for url_id in ids])
    for url_id in ids:
        drop_page(connection, url_id)
    counters.write(connection)
    return pages


def _remove_some_endpoints(connection: Connection, host: str, numbers: Sequence[int]) -> int:
    """Delete endpoints to which no row refers except by an index, and regroup the services that lost all their
    endpoints on the host. Returns how many services were deleted."""
    ids = {"ids": numbers}
    found = connection.execute(_SERVICES, ids).fetchall()
    for table in _INDEXED:  # rows that were added since
        connection.execute(delete(table).where(in_list(table.c.endpoint_id, "ids")), ids)
    for statement in (_UNTIE_SAME, _UNTIE, _DROP_ENDPOINTS):
        connection.execute(statement, ids)
    services = sorted(number for (number,) in found if number is not None)
    done = [
        service
        for service in services
        if connection.execute(_ANY_OF_HOST, {"host": host, "service": service}).fetchone() is None
    ]
    return ServiceWriter(connection).regroup_what_is_left(done)


# --------------------------------------------------------------------------- reading


def _hosts(connection: Connection, host: str) -> list[int]:
    """Return the ids of a host and of its subdomains."""
    return [
        row[0] for row in connection.execute(_HOSTS, {"host": host}).fetchall() if is_within_domains(row[1], {host})
    ]


def _endpoint_batches(found: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield ids of endpoints, so many that one transaction deletes them and their services' layers."""
    batch, rows = list[int](), 0
    for number, layers in found:
        batch.append(number)
        rows += 1 + layers
        if len(batch) == _ENDPOINTS_AT_ONCE or rows >= ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _values_on_hosts(connection: Connection, column: Column[Any], address: Column[str], host: str) -> list[object]:
    """Return the values of a column in the rows of its table whose address is one of the hosts'."""
    read = select(column, address).where(func.lower(address).contains(host, autoescape=True))
    return [value for value, text in connection.execute(read).fetchall() if _lies_beneath(text, host)]


def _lies_beneath(address: str, host: str) -> bool:
    url = read_url(address)
    return url is not None and is_within_domains(url.host, {host})
