"""Remove a database that holds nothing but what this program can make again."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from geocrawl.errors import DatabaseFault, EnvironmentFault
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.sqlite.integrity import has_facts
from geocrawl.store.operations.exclusive import alone, with_sides
from geocrawl.urls import read_url


def remove_if_only_of(path: Path, hosts: Set[str], now: float) -> None:
    """Remove the database at `path`, if there is one, with its side files.

    Raises DatabaseFault, and removes nothing, when it is not a database of geocrawl or knows other hosts than `hosts`;
    EnvironmentFault while anybody uses it.
    """
    place = path.resolve()
    with alone(place, now) as connection:
        if connection is None:
            return
        if place.stat().st_size:
            _demand_only(connection, hosts)
        for each in reversed(with_sides(place)):
            try:
                each.unlink(missing_ok=True)
            except OSError as error:
                raise EnvironmentFault(f"{each}: {error.strerror or error}") from None


def _demand_only(connection: Connection, hosts: Set[str]) -> None:
    if not has_facts(connection):
        raise DatabaseFault(f"{connection.path}: is not a database of geocrawl; move it away")
    known = {row[0] for row in connection.execute("SELECT name FROM host").fetchall()}
    seeds = [read_url(row[0]) for row in connection.execute("SELECT address FROM seed").fetchall()]
    known.update(url.host for url in seeds if url is not None)
    if others := sorted(known - hosts):
        raise DatabaseFault(f"{connection.path}: contains other hosts, such as {others[0]}; move it away")
