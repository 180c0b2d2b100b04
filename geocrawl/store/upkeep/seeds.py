"""Read and write the daemon's start pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import ClauseElement, and_, bindparam, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from geocrawl.model import Purpose, Url
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import ENDPOINT, HOST, SEED, URL
from geocrawl.store.database.steps import ChunkedWork, batches, run


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


_ON_HOST = select(func.count()).where(ENDPOINT.c.status == "valid", ENDPOINT.c.host == HOST.c.name)
_LIST = (
    select(
        *(SEED.c[name] for name in ("address", "title", "region", "language", "source", "added_at")),
        *(func.coalesce(URL.c.state, ""), func.coalesce(URL.c.reason, ""), _ON_HOST.scalar_subquery()),
    )
    .select_from(
        SEED.outerjoin(
            URL, and_(URL.c.depth == 0, URL.c.purpose == Purpose.PAGE, URL.c.address == SEED.c.address)
        ).outerjoin(HOST, HOST.c.id == URL.c.host_id)
    )
    .order_by(SEED.c.region, SEED.c.title, SEED.c.address)
)
_ADDRESSES = select(SEED.c.address).order_by(SEED.c.added_at, SEED.c.identity)
_ADD = insert(SEED).on_conflict_do_nothing()
_REMOVE = delete(SEED).where(SEED.c.identity == bindparam("identity"))


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
    rows = (
        {"identity": s.url.identity, "address": s.url.address, "title": s.title, "region": s.region}
        | {"language": s.language, "source": s.source, "added_at": at}
        for s in seeds
    )
    return run(_write(database, _ADD, rows))


def remove_seeds(database: Database, urls: Iterable[Url]) -> int:
    """Delete start pages; what was found from them stays. Returns how many there were."""
    return run(_write(database, _REMOVE, ({"identity": url.identity} for url in urls)))


def _write(database: Database, statement: ClauseElement, rows: Iterable[Mapping[str, object]]) -> ChunkedWork[int]:
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
    return [row[0] for row in connection.execute(_ADDRESSES)]
