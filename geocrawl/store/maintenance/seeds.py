"""Read and write the daemon's start pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from geocrawl.model import Url
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import ChunkedWork, batches, run


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A start page with the state of its visit and the services found on its site."""

    url: str
    title: str
    region: str
    language: str
    source: str
    added_at: float
    state: str
    """State of the page in the frontier: waiting, visited, failed …; '' when no crawl has begun with it."""
    reason: str
    services: int
    """Valid endpoints on its site."""


_LIST = """
SELECT s.address, s.title, s.region, s.language, s.source, s.added_at, coalesce(u.state, ''), coalesce(u.reason, ''),
  (SELECT count(*) FROM endpoint e WHERE e.status = 'valid' AND e.host = h.name)
FROM seed s LEFT JOIN url u ON u.depth = 0 AND u.purpose = 'page' AND u.address = s.address
LEFT JOIN host h ON h.id = u.host_id ORDER BY s.region, s.title, s.address"""


@dataclass(frozen=True, slots=True)
class NewSeed:
    """A start page to be stored."""

    url: Url
    title: str = ""
    region: str = ""
    language: str = ""
    source: str = ""


def add_seeds(database: Database, seeds: Iterable[NewSeed], at: float) -> int:
    """Store start pages. Returns how many are new."""
    return run(
        _write(
            database,
            "INSERT INTO seed (identity, address, title, region, language, source, added_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            ((s.url.identity, s.url.address, s.title, s.region, s.language, s.source, at) for s in seeds),
        )
    )


def remove_seeds(database: Database, urls: Iterable[Url]) -> int:
    """Delete start pages; what was found from them stays. Returns how many there were."""
    return run(_write(database, "DELETE FROM seed WHERE identity = ?", ((url.identity,) for url in urls)))


def _write(database: Database, statement: str, rows: Iterable[tuple[object, ...]]) -> ChunkedWork[int]:
    """Execute a statement for each of these rows; return how many it changed."""
    count = 0
    for batch in batches(rows):
        with database.transaction:
            count += database.connection.executemany(statement, batch).rowcount
        yield
    return count


def read_seeds(connection: Connection) -> list[SeedRow]:
    """Return all start pages, by region, title and address."""
    return [SeedRow(*row) for row in connection.execute(_LIST)]


def seed_addresses(connection: Connection) -> list[str]:
    """Return the addresses of all start pages, those added first at the beginning."""
    return [row[0] for row in connection.execute("SELECT address FROM seed ORDER BY added_at, identity")]
