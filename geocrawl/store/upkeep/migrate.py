"""Copy a whole catalogue from one database into another, of the same or another engine, and compare what arrived.

Rows are read by their keys in portions, from one snapshot of the source, and each portion is written in a transaction,
so neither side is held in memory. At the end the rows of the copy are read and compared with those that were written to
it, by number and by a hash over all their values; of the words of the search, which each engine keeps in its own way,
only the services are counted.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, literal, select

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.ports import Clock
from geocrawl.store.catalogue.index.upkeep import copy_words, index_missing
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import COPIED_FROM, Database, exists
from geocrawl.store.database.life import BEAT, MEMBER
from geocrawl.store.database.processes import DAEMON_LOCK, working_processes
from geocrawl.urls.database import DatabaseUrl, place_of

_ROWS = 1_000
_MADE_ANEW = frozenset({"search_change"})
"""Tables that are not copied, because triggers of the copy fill them."""
_NOT_COPIED = (DAEMON_LOCK, MEMBER, BEAT, COPIED_FROM)
"""Beginnings of the names of facts that are not copied: those of processes, and that this is a copy."""

Tell = Callable[[str, int], object]
"""`tell(table, rows)` is called when a table is copied."""


@dataclass(frozen=True, slots=True)
class TableSum:
    """Number of a table's rows and a hash of their values, equal for equal tables of either engine."""

    rows: int
    digest: str
    """Hash over all values, in the order of the keys."""


def migrate(source: str | DatabaseUrl, target: str | DatabaseUrl, clock: Clock, tell: Tell) -> dict[str, TableSum]:
    """Copy everything from the database at `source` into the empty or missing one at `target`; return what each table
    holds in both.

    Raises DatabaseFault when the target is not empty, somebody works on the source, or a table arrived otherwise.
    """
    here, there = place_of(source), place_of(target)
    if not exists(here):
        raise DatabaseFault(f"{here}: no such catalogue to copy; the first argument names it")
    with (
        closing(Database.open(here, create=False, clock=clock)) as one,
        closing(Database.open(there, create=True, clock=clock)) as other,
    ):
        index_missing(one)
        return _migrate(one, other, clock.now(), tell)


def _migrate(source: Database, target: Database, now: float, tell: Tell) -> dict[str, TableSum]:
    _refuse_work(source, now)
    with target.transaction:  # whoever writes first has the database: a crawl, or this copy
        _refuse_full(target)
        target.write_meta(COPIED_FROM, str(source.path))
    try:
        return _copy_all(source, target, tell)
    except PassingFault as fault:  # its advice is for crawls, which go on
        what = str(fault).partition(";")[0]
        advice = f"{target.path} holds only a part of {source.path}: remove this copy and repeat the command"
        raise DatabaseFault(f"{what}; {advice}") from fault


def _copy_all(source: Database, target: Database, tell: Tell) -> dict[str, TableSum]:
    read = dict[str, TableSum]()
    with source.connection.snapshot(), target.connection.foreign_keys_off():
        for table in _tables():
            read[table.name] = _copy(source.connection, target, table)
            tell(table.name, read[table.name].rows)
        tell("search_text", copy_words(source.connection, target))
    sums = {table.name: _compared(source, target, table, read[table.name]) for table in _tables()}
    target.connection.number_on()  # after the comparison: SQLite keeps the number of the last settlement in a row
    with target.transaction:
        target.delete_meta(COPIED_FROM)
    return sums


def table_sum(connection: Connection, table: Table) -> TableSum:
    """Return the number of rows and the hash of a table, which is read in portions."""
    found = _Sum()
    for rows in _portions(connection, table):
        found.add(rows)
    return found.total


class _Sum:
    """Adds up the rows of a table."""

    def __init__(self) -> None:
        self._rows = 0
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows, in the order of their keys."""
        for row in rows:
            self._rows += 1
            self._digest.update(repr(row).encode("utf-8", "backslashreplace"))

    @property
    def total(self) -> TableSum:
        """Return what was added."""
        return TableSum(self._rows, self._digest.hexdigest())


def _tables() -> list[Table]:
    from geocrawl.store.database.schema.models import METADATA  # takes 0.25 s, which few commands need

    return [table for table in METADATA.sorted_tables if table.name not in _MADE_ANEW]


def _refuse_work(source: Database, now: float) -> None:
    for process in working_processes(source.connection, now):
        raise DatabaseFault(f"{source.path}: {process} works on it; stop it first")


def _refuse_full(target: Database) -> None:
    for table in _tables():
        if target.connection.execute(select(literal(1)).select_from(table).limit(1)).fetchone():
            raise DatabaseFault(f"{target.path}: holds a catalogue already; name an empty database")


def _copy(source: Connection, target: Database, table: Table) -> TableSum:
    """Copy a table; return what was read of it."""
    names, read = list(table.columns.keys()), _Sum()
    for rows in _portions(source, table):
        read.add(rows)
        with target.transaction:
            target.connection.add_rows(table.name, names, rows)
    return read.total


def _compared(source: Database, target: Database, table: Table, read: TableSum) -> TableSum:
    arrived = table_sum(target.connection, table)
    if read != arrived:
        raise DatabaseFault(
            f"{target.path}: the table {table.name} arrived otherwise than it was ({read.rows:,} rows, then "
            f"{arrived.rows:,}); keep {source.path}, empty the copy and try again"
        )
    return arrived


def _portions(connection: Connection, table: Table) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a table in the order of its key, as both engines store them."""
    keys = [column.name for column in table.primary_key.columns]
    places = [list(table.columns.keys()).index(key) for key in keys]
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    quoted = ", ".join(f'"{key}"' for key in keys)
    marks = ", ".join("?" * len(keys))
    begin = f"SELECT {names} FROM {table.name} "  # noqa: S608 our own names
    order = f"ORDER BY {quoted} LIMIT {_ROWS}"
    rows = connection.execute(f"{begin}{order}").fetchall()
    while rows:
        plain = [_plain(table.name, row) for row in rows]
        if kept := [row for row in plain if not (table.name == "meta" and row[0].startswith(_NOT_COPIED))]:
            yield kept
        last = [rows[-1][place] for place in places]
        rows = connection.execute(f"{begin}WHERE ({quoted}) > ({marks}) {order}", last).fetchall()


def _plain(table: str, row: Sequence[Any]) -> tuple[Any, ...]:
    """Return a row as both engines can store it: no NUL in texts, the text of a robots.txt compressed."""
    values = [value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in row]
    if table == "robots" and isinstance(values[2], str):
        values[2] = zlib.compress(values[2].encode("utf-8", "surrogatepass"))
    return tuple(values)
