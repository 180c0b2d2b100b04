"""Answer pycsw's questions from the catalogue's view `v_services`, which shows no key in an address.

pycsw makes a `Repository` for each request. It reads alone, and SQLite itself refuses it everything but the view and
the full-text index (`_allowed`).
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .conditions import Spellings, rewritten

PREFIX = "urn:geocrawl:service:"
_MOST_RECORDS = 100
_MOST_VALUES = 1_000
"""Most different values of a property that GetDomain lists."""
_MOST_DOMAIN_CHARS = 500_000
"""Most characters of all values that one GetDomain lists; later ones are left out."""
_ANSWER_S = 20.0
_MOST_OFFSET = 2**62
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
"""What XML cannot hold, beyond the controls that `clean` removes."""
_PLAIN = (
    "'POLYGON((' || "
    + " || ', ' || ".join(
        f"printf('%.6f %.6f', {x}, {y})"
        for x, y in (("west", "south"), ("west", "north"), ("east", "north"), ("east", "south"), ("west", "south"))
    )
    + " || '))'"
)
_CROSSING = (
    "printf('POLYGON((-180 %.6f, -180 %.6f, 180 %.6f, 180 %.6f, -180 %.6f))', south, north, north, south, south)"
)
_PROTOCOL = "CASE kind WHEN 'arcgis' THEN 'ESRI:ArcGIS' WHEN 'stac' THEN 'STAC' ELSE 'OGC:' || upper(kind) END"
_COLUMNS = {
    "identifier": f"'{PREFIX}' || id",
    "typename": "'csw:Record'",
    "schema": "'http://www.opengis.net/cat/csw/2.0.2'",
    "mdsource": "'local'",
    "insert_date": "first_seen",
    "anytext": "title || ' ' || abstract || ' ' || keywords || ' ' || provider",
    "title": "title",
    "abstract": "abstract",
    "keywords": "(SELECT group_concat(replace(value, ',', ' '), ',') FROM json_each(keywords))",
    "keywordstype": "'theme'",
    "source": "url",
    "date": "substr(last_ok, 1, 10)",
    "date_modified": "last_ok",
    "type": "'service'",
    "wkt_geometry": f"CASE WHEN west IS NULL THEN NULL WHEN west > east THEN {_CROSSING} ELSE {_PLAIN} END",
    "organization": "provider",
    "creator": "provider",
    "publisher": "provider",
    "servicetype": _PROTOCOL,
    "servicetypeversion": "version",
    "couplingtype": "'loose'",
    "operation": "'GetCapabilities'",
    "accessconstraints": "access_constraints",
    "conditionapplyingtoaccessanduse": "fees",
    # name,description,protocol,address: commas and ^ divide, so an address has none.
    "links": f"kind || ',,' || {_PROTOCOL} || ',' || replace(replace(url, ',', '%2C'), '^', '%5E')",
}
"""Column of pycsw's core model → its expression over `v_services`; the others are NULL."""
_OWN = "id, west, south, east, north"
_READ = {"v_services", "record", "json_each"}


class Repository:
    """The catalogue of one request. `set_up` says which before the first."""

    database = Path()
    spellings: Spellings = staticmethod(lambda text: (text,))
    clean: Callable[[str], str] = staticmethod(str)
    """Makes a text fit to be published."""
    dbtype = "sqlite"
    fts = False

    @classmethod
    def set_up(cls, database: Path, spellings: Spellings, clean: Callable[[str], str]) -> None:
        """Say what is read, how words are folded and how texts are cleaned."""
        cls.database = database
        cls.spellings, cls.clean = staticmethod(spellings), staticmethod(clean)

    def __init__(self, context: Any, repo_filter: object = None) -> None:
        """Open the catalogue with the columns of pycsw's `context`. Raises sqlite3.Error when it cannot be read."""
        self.queryables = _queryables(context)
        self.columns = frozenset(context.md_core_model["mappings"].values())
        self._connection = open_catalogue(self.database, self.columns)
        self._domain_chars = _MOST_DOMAIN_CHARS

    def close(self) -> None:
        """Close the catalogue."""
        self._connection.close()

    def query_ids(self, ids: Sequence[str]) -> list[SimpleNamespace]:
        """Return the records with these identifiers; unknown ones are left out."""
        numbers = [each[len(PREFIX) :] for each in ids[:_MOST_RECORDS] if each and each.startswith(PREFIX)]
        known = [int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 19]
        return self._records("WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id", [json.dumps(known)])

    def query_domain(
        self, domain: str, typenames: object, domainquerytype: str = "list", count: bool = False
    ) -> list[tuple[Any, ...]]:
        """Return the values of a column, or the least and the greatest."""
        column = self._column(domain)
        if domainquerytype == "range":
            return self._rows(f"SELECT min({column}), max({column}) FROM record")
        counted = f"{column}, count(*)" if count else column
        if self._domain_chars <= 0:  # the properties before were enough
            return []
        statement = f"SELECT {counted} FROM record WHERE {column} IS NOT NULL GROUP BY {column} LIMIT {_MOST_VALUES}"
        rows = list[tuple[Any, ...]]()
        for row in self._rows(statement):
            self._domain_chars -= len(str(row[0]))
            if self._domain_chars < 0:
                break
            rows.append(row)
        return rows

    def query_insert(self, direction: str = "max") -> str:
        """Return when the newest service was found, or the oldest."""
        ((found,),) = self._rows(f"SELECT {'min' if direction == 'min' else 'max'}(insert_date) FROM record")
        return str(found or "1970-01-01T00:00:00Z")

    def query_source(self, source: str) -> list[SimpleNamespace]:
        """Return the records of an address (pycsw asks when it harvests, which is off)."""
        return self._records("WHERE source = ? LIMIT ?", [source, _MOST_RECORDS])

    def query(
        self,
        constraint: Mapping[str, Any],
        sortby: Mapping[str, Any] | None = None,
        typenames: object = None,
        maxrecords: int | str = 10,
        startposition: int = 0,
    ) -> list[Any]:
        """Return the number of records that fulfil a constraint, and one page of them. Raises ValueError for a
        constraint that is not supported, sqlite3.OperationalError for one that takes too long."""
        where, arguments = "", list[object]()
        if "where" in constraint:
            condition, arguments = rewritten(constraint["where"], constraint["values"], self.columns, self.spellings)
            where = f"WHERE {condition}"
        ((total,),) = self._rows(f"SELECT count(*) FROM record {where}", arguments)
        page = [min(max(int(maxrecords), 0), _MOST_RECORDS), min(max(int(startposition), 0), _MOST_OFFSET)]
        order = self._order(sortby) if sortby else ""
        return [str(total), self._records(f"{where} ORDER BY {order}id LIMIT ? OFFSET ?", [*arguments, *page])]

    def _order(self, sortby: Mapping[str, Any]) -> str:
        column = self._column(sortby["propertyname"])
        if sortby.get("spatial"):
            column = "(east - west + CASE WHEN west > east THEN 360 ELSE 0 END) * (north - south)"
        return f"{column} {'DESC' if sortby['order'] == 'DESC' else 'ASC'}, "

    def _column(self, name: str) -> str:
        if name not in self.columns:
            raise ValueError(f"no such column: {name}")
        return name

    def _records(self, rest: str, arguments: Sequence[object]) -> list[SimpleNamespace]:
        cursor = self._execute(f"SELECT * FROM record {rest}", arguments)
        names = [each[0] for each in cursor.description]
        return [SimpleNamespace(**dict(zip(names, map(self._published, row)))) for row in cursor]  # noqa: B905

    def _rows(self, statement: str, arguments: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return [tuple(map(self._published, row)) for row in self._execute(statement, arguments)]

    def _execute(self, statement: str, arguments: Sequence[object]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, arguments)
        except sqlite3.Error as error:  # pycsw tells the client that the filter was wrong, and nobody else
            sys.stderr.write(f"geocrawl: CSW: {self.database}: {error}\n")
            raise

    def _published(self, value: Any) -> Any:
        return self.clean(_NO_CHARACTERS.sub("", value)) if isinstance(value, str) else value


def open_catalogue(path: Path, columns: frozenset[str]) -> sqlite3.Connection:
    """Return a connection that reads the view `record` with `columns`, and nothing else."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5, check_same_thread=False)
    try:
        shown = ", ".join(f"{_COLUMNS.get(column, 'NULL')} AS {column}" for column in sorted(columns))
        connection.execute(f"CREATE TEMP VIEW record AS SELECT {_OWN}, {shown} FROM v_services")
        connection.execute("SELECT rowid FROM search_text WHERE search_text MATCH '\"\"'")  # opens the index
    except sqlite3.Error:
        connection.close()
        raise
    connection.set_authorizer(_allowed)
    until = time.monotonic() + _ANSWER_S
    connection.set_progress_handler(lambda: time.monotonic() > until, 20_000)
    return connection


def _allowed(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
    """Answer SQLite's authorizer: tables are read through the views alone, but for the full-text index."""
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and first == "data_version":  # the full-text index asks for it
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        is_published = source in _READ or first in _READ or (first or "").startswith("search_text")
        # No column: only the rows are counted.
        return sqlite3.SQLITE_OK if is_published or not second else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_DENY


def _queryables(context: Any) -> dict[str, dict[str, Any]]:
    """Return what can be asked for, by group, and all of it under `_all`, as pycsw expects."""
    found: dict[str, dict[str, Any]] = {}
    for about in context.model["typenames"].values():
        for group, names in about["queryables"].items():
            found[group] = dict(names)
    everything = {name: about for names in found.values() for name, about in names.items()}
    everything.update(context.md_core_model["mappings"])
    return {**found, "_all": everything}
