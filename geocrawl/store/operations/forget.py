"""Opt a host out: remove everything that the database stores of it and of the hosts beneath it, and block them all.

All of it is one transaction. Of each page an empty row stays, without address and text, so that its id, which other
pages' links and running processes may refer to, never names another page. Recorded answers (WARC files) are not
touched. A strategy keeps what it learnt from the host; feedback that it has yet to learn from goes with its next dump.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from geocrawl.model import State
from geocrawl.store.beneath import is_or_lies_beneath
from geocrawl.store.catalog.index_words import spaced
from geocrawl.store.catalog.services import ServiceWriter
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.page_store import STORED_BYTES
from geocrawl.store.operations.opt_out import FORGETS, FORGOTTEN
from geocrawl.urls import is_beneath, read_url

_NO_ADDRESS = "http://forgotten.invalid/"  # RFC 2606: a name that nobody can have
_OF_ENDPOINT = ("evidence", "probe", "proof", "thumbnail", "health_event", "change", "description")
_HOSTS = f"SELECT id, name FROM host WHERE {is_or_lies_beneath('name', '?1')}"  # noqa: S608 our own condition
_ENDPOINTS = f"SELECT id, service_id FROM endpoint WHERE {is_or_lies_beneath('host', '?1')}"  # noqa: S608 our own condition
_PAGES = "SELECT id, purpose, state, tier, coalesce(reason, '') FROM url WHERE host_id = ?"
_EMPTY_PAGE = """
UPDATE url SET key = -id, address = ?2, state = 'refused', reason = 'forgotten', depth = max(depth, 1), tier = 0,
  score = 0, found_on = NULL, anchor = NULL, found_in = NULL, endpoint_id = NULL, retry_at = NULL, settled_at = NULL,
  http_status = NULL, content_type = NULL, size_bytes = NULL, elapsed_ms = NULL, title = NULL, relevance = NULL,
  page_score = NULL, digest = NULL, revisit_s = NULL, revisit_at = NULL
WHERE id = ?1"""
_FREE_HOST = """
UPDATE host SET waiting = 0, pages = 0, best_tier = 0, best_score = 0, lease_until = 0, lease_url = NULL,
  lease_token = lease_token + 1 WHERE id = ?"""


@dataclass(frozen=True, slots=True)
class Removed:
    """Counts of what was removed of a host."""

    pages: int
    endpoints: int
    services: int
    """Services that no endpoint of another host offers."""


def forget(database: Database, host: str, reason: str, at: float) -> Removed:
    """Remove all that is known of `host` (as `urls` spells it) and of the hosts beneath it, and block them."""
    connection = database.connection
    with database.transaction:
        connection.execute(
            "INSERT INTO blocked (host, reason, at) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET reason = excluded.reason",
            (host, reason, at),
        )
        hosts = [row for row in connection.execute(_HOSTS, (host,)).fetchall() if is_beneath(row[1], {host})]
        endpoints = connection.execute(_ENDPOINTS, (host,)).fetchall()
        pages = _empty_pages(connection, [row[0] for row in hosts])
        _remove_evidence(connection, host)
        services = _remove_endpoints(connection, endpoints)
        _remove_facts(connection, host)
        connection.execute(sql.COUNT, (FORGETS, 1))
    return Removed(pages, len(endpoints), services)


def undo(database: Database, host: str) -> bool:
    """End the opt-out of a host, which is then like one that was never seen. Returns whether it was blocked."""
    with database.transaction:
        removed = database.connection.execute("DELETE FROM blocked WHERE host = ?", (host,)).rowcount
        database.connection.execute(sql.COUNT, (FORGETS, 1))
    return bool(removed)


# --------------------------------------------------------------------------- inside the transaction


def _empty_pages(connection: Connection, hosts: Iterable[int]) -> int:
    """Empty the rows of all pages and probes of these hosts. Returns how many pages were known."""
    counters, pages = Counters(connection), 0
    for host_id in hosts:
        found = [row for row in connection.execute(_PAGES, (host_id,)).fetchall() if row[4] != FORGOTTEN]
        for _, purpose, state, tier, reason in found:
            pages += purpose == "page"
            counters.add(purpose, state, tier, -1)
            counters.add(purpose, State.REFUSED, 0, 1)
            counters.refuse(FORGOTTEN, 1)
            if state == State.REFUSED:
                counters.refuse(reason, -1)
        ids = [(row[0],) for row in found]
        connection.executemany(_EMPTY_PAGE, [(url_id, _NO_ADDRESS) for (url_id,) in ids])
        connection.executemany("DELETE FROM outlinks WHERE url_id = ?", ids)
        connection.executemany(sql.FORGET_VALIDATORS, ids)
        for url_id in ids:
            if (row := connection.execute(sql.DROP_PAGE, url_id).fetchone()) is not None:
                connection.execute(sql.COUNT, (STORED_BYTES, -row[0]))
        connection.execute(_FREE_HOST, (host_id,))
    # Anchor texts of these hosts' links to other pages. (One walk over all pages; there is no index for it.)
    connection.execute(
        "UPDATE url SET anchor = NULL WHERE anchor IS NOT NULL AND found_on IN "
        "(SELECT id FROM url WHERE state = 'refused' AND reason = 'forgotten')"
    )
    counters.flush()
    return pages


def _remove_evidence(connection: Connection, host: str) -> None:
    """Delete evidence whose page is on the host."""
    rows = connection.execute("SELECT id, page FROM evidence WHERE instr(lower(page), ?) > 0", (host,)).fetchall()
    gone = [(number,) for number, page in rows if _lies_beneath(page, host)]
    connection.executemany("DELETE FROM evidence WHERE id = ?", gone)


def _remove_endpoints(connection: Connection, endpoints: list[tuple[int, int | None]]) -> int:
    """Delete endpoints and all rows that refer to them. Returns how many services were deleted with them."""
    ids = (json.dumps([number for number, _ in endpoints]),)
    gone = "(SELECT value FROM json_each(?1))"
    for table in _OF_ENDPOINT:
        connection.execute(f"DELETE FROM {table} WHERE endpoint_id IN {gone}", ids)  # noqa: S608 our own names
    connection.execute(f"DELETE FROM same_service WHERE first_id IN {gone} OR second_id IN {gone}", ids)  # noqa: S608 our own
    connection.execute(f"UPDATE url SET endpoint_id = NULL WHERE endpoint_id IN {gone}", ids)  # noqa: S608 our own
    connection.execute(f"DELETE FROM endpoint WHERE id IN {gone}", ids)  # noqa: S608 our own
    services = sorted({service for _, service in endpoints if service is not None})
    return ServiceWriter(connection, spaced).regroup_what_is_left(services)


def _remove_facts(connection: Connection, host: str) -> None:
    """Delete the host's start pages, robots.txt answers and days of harvests."""
    for table, column in (("seed", "address"), ("robots", "origin")):
        rows = connection.execute(f"SELECT {column} FROM {table}").fetchall()  # noqa: S608 our own names
        gone = [row for row in rows if _lies_beneath(row[0], host)]
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", gone)  # noqa: S608 our own names
    for (name,) in connection.execute("SELECT name FROM meta WHERE name LIKE 'harvest:%'").fetchall():
        if _lies_beneath(name.partition(":")[2], host):
            connection.execute("DELETE FROM meta WHERE name = ?", (name,))


def _lies_beneath(address: str, host: str) -> bool:
    url = read_url(address)
    return url is not None and is_beneath(url.host, {host})
