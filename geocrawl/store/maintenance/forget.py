"""Opt a host out: remove everything that the database stores about the host and its subdomains, and block them all.

The first transaction blocks the hosts and ends their leases, so that nothing of them arrives any more; then short ones
remove what there is. A removal that was killed goes on when the command is repeated, and at the daemon's next tidying
(`finish_forgetting`). Of each page an empty row stays, without address and text, so that its id, which other pages'
links and running processes may refer to, never names another page. Recorded answers (WARC files) are not touched. A
strategy keeps what it learnt from the host; feedback that it has yet to learn from goes with its next dump.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from geocrawl.model import State
from geocrawl.store.catalog.services import ServiceWriter
from geocrawl.store.engine.clauses import is_host_or_subdomain, listed
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.opt_out import FORGETS, FORGOTTEN
from geocrawl.store.engine.steps import ROWS, ChunkedWork, batches, run
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import CounterChanges
from geocrawl.store.frontier.page_store import drop_page
from geocrawl.urls import is_within_domains, read_url

_NO_ADDRESS = "http://forgotten.invalid/"  # RFC 2606: a name that nobody can have
_UNFINISHED = "forgetting:"
"""Facts of this name and a host: its removal has begun and not ended."""
_OF_ENDPOINT = {
    **dict.fromkeys(("evidence", "probe", "health_event", "change"), "id"),
    **dict.fromkeys(("proof", "thumbnail", "description"), "endpoint_id"),
}
"""Table of rows that belong to an endpoint → the column by which they are deleted, a few rows for each value."""
_INDEXED = tuple(table for table in _OF_ENDPOINT if table != "change")
_ENDPOINTS_AT_ONCE = 100
_IDS = listed("?1")
_HOSTS = f"SELECT id, name FROM host WHERE {is_host_or_subdomain('name', '?1')}"  # noqa: S608 our own condition
_ENDPOINTS = f"""
SELECT e.id, coalesce(s.layer_count, 0) FROM endpoint e LEFT JOIN service s ON s.id = e.service_id
WHERE {is_host_or_subdomain("e.host", "?1")} ORDER BY e.service_id, e.id"""  # noqa: S608 our own condition
_ANY_OF_HOST = f"SELECT 1 FROM endpoint WHERE service_id = ?2 AND {is_host_or_subdomain('host', '?1')} LIMIT 1"  # noqa: S608 our own
_PAGE_IDS = f"SELECT id FROM url WHERE host_id IN {_IDS} AND coalesce(reason, '') <> 'forgotten'"  # noqa: S608 our own
_PAGES = f"SELECT id, purpose, state, tier, coalesce(reason, '') FROM url WHERE id IN {_IDS}"  # noqa: S608 our own
_EMPTY_PAGE = """
UPDATE url SET key = -id, address = ?2, state = 'refused', reason = 'forgotten', depth = max(depth, 1), tier = 0,
  score = 0, found_on = NULL, anchor = NULL, found_in = NULL, endpoint_id = NULL, retry_at = NULL, settled_at = NULL,
  http_status = NULL, content_type = NULL, size_bytes = NULL, elapsed_ms = NULL, title = NULL, relevance = NULL,
  page_score = NULL, digest = NULL, revisit_s = NULL, revisit_at = NULL
WHERE id = ?1"""
# Anchor texts of links from emptied pages to others.
_ANCHORS = """
SELECT u.id FROM url u JOIN url p ON p.id = u.found_on
WHERE u.anchor IS NOT NULL AND p.state = 'refused' AND p.reason = 'forgotten'"""
_FREE_HOST = """
UPDATE host SET waiting = 0, pages = 0, best_tier = 0, best_score = 0, lease_until = 0, lease_url = NULL,
  lease_token = lease_token + 1 WHERE id = ?"""
_RESTORE_QUEUE = """
UPDATE host SET (waiting, pages) = (SELECT count(*), count(*) FROM url WHERE host_id = ?1 AND state = 'waiting'),
  (best_tier, best_score) = (SELECT coalesce(max(tier), 0), coalesce(max(score), 0) FROM (
    SELECT tier, score FROM url WHERE host_id = ?1 AND state = 'waiting' ORDER BY tier DESC, score DESC LIMIT 1) head)
WHERE id = ?1"""


@dataclass(frozen=True, slots=True)
class Removed:
    """Counts of what was removed of a host."""

    pages: int
    endpoints: int
    services: int
    """Services that no endpoint of another host offers."""


def forget(database: Database, host: str, reason: str, at: float) -> Removed:
    """Remove everything stored about `host` (as `urls` spells it) and its subdomains, and block them."""
    with database.transaction:
        database.connection.execute(
            "INSERT INTO blocked (host, reason, at) VALUES (?, ?, ?) "
            "ON CONFLICT (host) DO UPDATE SET reason = excluded.reason",
            (host, reason, at),
        )
        database.write_meta(_UNFINISHED + host, b"")
        _free_hosts(database.connection, host)
        database.connection.execute(sql.COUNT, {"name": FORGETS, "value": 1})
    return run(_remove(database, host))


def finish_forgetting(database: Database) -> ChunkedWork[None]:
    """Remove what is left of hosts whose removal was killed."""
    rows = database.connection.execute("SELECT name FROM meta WHERE name LIKE ?", (f"{_UNFINISHED}%",)).fetchall()
    for (name,) in rows:
        yield from _remove(database, name.removeprefix(_UNFINISHED))


def undo(database: Database, host: str) -> bool:
    """End the opt-out of a host, which is then like one that was never seen. Returns whether it was blocked.

    After a removal that was killed, the pages that it left wait again.
    """
    with database.transaction:
        removed = database.connection.execute("DELETE FROM blocked WHERE host = ?", (host,)).rowcount
        database.delete_meta(_UNFINISHED + host)
        _restore_queues(database.connection, host)
        database.connection.execute(sql.COUNT, {"name": FORGETS, "value": 1})
    return bool(removed)


# --------------------------------------------------------------------------- in transactions of their own


def _remove(database: Database, host: str) -> ChunkedWork[Removed]:
    """Remove everything that is stored about a blocked host and its subdomains."""
    connection = database.connection
    pages = yield from _empty_pages(database, host)
    yield from _delete(database, "evidence", "id", _values_on_hosts(connection, "evidence", "id", "page", host))
    endpoints, services = yield from _remove_endpoints(database, host)
    for table, column in (("seed", "address"), ("robots", "origin")):
        yield from _delete(database, table, column, _values_on_hosts(connection, table, column, column, host))
    with database.transaction:
        for (name,) in connection.execute("SELECT name FROM meta WHERE name LIKE 'harvest:%'").fetchall():
            if _lies_beneath(name.partition(":")[2], host):
                database.delete_meta(name)
        _free_hosts(connection, host)
        database.delete_meta(_UNFINISHED + host)
        connection.execute(sql.COUNT, {"name": FORGETS, "value": 1})
    return Removed(pages, endpoints, services)


def _empty_pages(database: Database, host: str) -> ChunkedWork[int]:
    """Empty the rows of all pages and probes of the hosts. Returns how many pages were known."""
    connection, pages = database.connection, 0
    hosts = json.dumps(_hosts(connection, host))
    for batch in batches(row[0] for row in connection.execute(_PAGE_IDS, (hosts,)).fetchall()):
        with database.transaction:
            pages += _empty(connection, batch)
        yield
    for batch in batches(connection.execute(_ANCHORS).fetchall()):
        with database.transaction:
            connection.executemany("UPDATE url SET anchor = NULL WHERE id = ?", batch)
        yield
    return pages


def _remove_endpoints(database: Database, host: str) -> ChunkedWork[tuple[int, int]]:
    """Delete endpoints and all rows that refer to them. Returns how many endpoints and services were deleted."""
    connection, services = database.connection, 0
    found = connection.execute(_ENDPOINTS, (host,)).fetchall()
    ids = json.dumps([row[0] for row in found])
    for table, key in _OF_ENDPOINT.items():
        rows = connection.execute(f"SELECT {key} FROM {table} WHERE endpoint_id IN {_IDS}", (ids,)).fetchall()  # noqa: S608 our own names
        yield from _delete(database, table, key, list(dict.fromkeys(row[0] for row in rows)))
    for batch in _endpoint_batches(found):
        with _without_foreign_keys(database):
            services += _remove_some_endpoints(connection, host, batch)
        yield
    return len(found), services


def _delete(database: Database, table: str, column: str, values: Sequence[object]) -> ChunkedWork[None]:
    """Delete the rows of a table whose column has one of these values."""
    for batch in batches(values):
        with database.transaction:
            database.connection.executemany(
                f"DELETE FROM {table} WHERE {column} = ?",  # noqa: S608 our own names
                [(value,) for value in batch],
            )
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
    connection.executemany(_FREE_HOST, [(host_id,) for host_id in _hosts(connection, host)])


def _restore_queues(connection: Connection, host: str) -> None:
    """Count the waiting pages of the hosts, whose queues were emptied when their removal began."""
    connection.executemany(_RESTORE_QUEUE, [(host_id,) for host_id in _hosts(connection, host)])


def _empty(connection: Connection, ids: Sequence[int]) -> int:
    """Empty rows of pages and probes. Returns how many of them were pages."""
    counters, pages = CounterChanges(), 0
    for _, purpose, state, tier, reason in connection.execute(_PAGES, (json.dumps(ids),)).fetchall():
        pages += purpose == "page"
        counters.add(purpose, state, tier, -1)
        counters.add(purpose, State.REFUSED, 0, 1)
        counters.refuse(FORGOTTEN, 1)
        if state == State.REFUSED:
            counters.refuse(reason, -1)
    rows = [(url_id,) for url_id in ids]
    connection.executemany(_EMPTY_PAGE, [(url_id, _NO_ADDRESS) for url_id in ids])
    connection.executemany("DELETE FROM outlinks WHERE url_id = ?", rows)
    connection.executemany(sql.FORGET_VALIDATORS, [{"url": url_id} for url_id in ids])
    for url_id in ids:
        drop_page(connection, url_id)
    counters.write(connection)
    return pages


def _remove_some_endpoints(connection: Connection, host: str, numbers: Sequence[int]) -> int:
    """Delete endpoints to which no row refers except by an index, and regroup the services that lost all their
    endpoints on the host. Returns how many services were deleted."""
    ids = (json.dumps(numbers),)
    found = connection.execute(f"SELECT DISTINCT service_id FROM endpoint WHERE id IN {_IDS}", ids).fetchall()  # noqa: S608 our own
    for table in _INDEXED:  # rows that were added since
        connection.execute(f"DELETE FROM {table} WHERE endpoint_id IN {_IDS}", ids)  # noqa: S608 our own names
    connection.execute(f"DELETE FROM same_service WHERE first_id IN {_IDS} OR second_id IN {_IDS}", ids)  # noqa: S608 our own
    connection.execute(f"UPDATE url SET endpoint_id = NULL WHERE endpoint_id IN {_IDS}", ids)  # noqa: S608 our own
    connection.execute(f"DELETE FROM endpoint WHERE id IN {_IDS}", ids)  # noqa: S608 our own
    services = sorted(number for (number,) in found if number is not None)
    done = [each for each in services if connection.execute(_ANY_OF_HOST, (host, each)).fetchone() is None]
    return ServiceWriter(connection).regroup_what_is_left(done)


# --------------------------------------------------------------------------- reading


def _hosts(connection: Connection, host: str) -> list[int]:
    """Return the ids of a host and of its subdomains."""
    return [row[0] for row in connection.execute(_HOSTS, (host,)).fetchall() if is_within_domains(row[1], {host})]


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


def _values_on_hosts(connection: Connection, table: str, column: str, address: str, host: str) -> list[object]:
    """Return the values of a table's column in rows whose address is one of the hosts'."""
    read = f"SELECT {column}, {address} FROM {table} WHERE instr(lower({address}), ?) > 0"  # noqa: S608 our own names
    return [value for value, text in connection.execute(read, (host,)).fetchall() if _lies_beneath(text, host)]


def _lies_beneath(address: str, host: str) -> bool:
    url = read_url(address)
    return url is not None and is_within_domains(url.host, {host})
