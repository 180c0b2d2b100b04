"""Translate PostgreSQL's errors into one clear line each, with advice, and without what gives access."""

from __future__ import annotations

import psycopg

from geocrawl.errors import DatabaseFault, NoRoom, PassingFault, RefusedValue, UnreachableServer, WriteConflict
from geocrawl.store.database.connection import BUSY_S
from geocrawl.urls.database import ServerDatabase

DOCS = "docs/postgresql.md"
_NEEDS = {
    "28P01": "refuses the password; check user and password in --db, PGPASSWORD or ~/.pgpass",
    "28000": "refuses this user; check the user in --db and the server's pg_hba.conf",
    "3D000": "the server has no such database; make it with `createdb`, as a user that may",
    "3F000": "the schema geocrawl is missing; `geocrawl crawl URL` makes it",
    "42501": f"this user lacks a right there; {DOCS} lists the rights that roles need",
    "25006": "the server lets nothing be written: it is a standby, or this role may only read",
    "42P01": "a table of geocrawl is missing: restore a backup, or name another --db",
    "57014": "the statement took longer than the server allows (statement_timeout)",
}
"""SQLSTATE (PostgreSQL's manual, appendix A) → what it means here, and what helps."""
_PASSING = {
    "25P03": "the server ended a transaction in which nothing was done for too long; try again",
    "53100": "the server's disk is full; no settled visit is lost: free some space and continue",
    "53200": "the server lacks memory; try again",
    "53300": "the server has no connection left; raise max_connections, or run fewer workers",
    "55P03": f"others write to it for longer than {BUSY_S:g} s; try again",
    "57P01": "the server is being stopped; try again",
    "57P02": "the server has crashed and starts again; try again",
    "57P03": "the server is starting; try again",
    "40001": "another worker wrote the same at the same time; try again",
    "40P01": "two workers waited for each other; try again",
}
_KINDS = {"40001": WriteConflict, "40P01": WriteConflict, "53100": NoRoom}
_REFUSALS = {
    "sorry, too many clients": "53300",
    "connection slots are reserved": "53300",
    "too many connections for": "53300",
    "is starting up": "57P03",
    "is not yet accepting connections": "57P03",
    "is in recovery mode": "57P02",
    "is shutting down": "57P01",
    "password authentication failed": "28P01",
    "no password supplied": "28P01",
    "fe_sendauth": "28P01",
    "no pg_hba.conf entry": "28000",
    "Peer authentication": "28000",
    'role "': "28000",
    "permission denied for database": "42501",
    'database "': "3D000",
}
"""A part of a refusal to connect, which comes without SQLSTATE → the code that it stands for; the first one counts."""
ERRORS = (psycopg.Error, UnicodeEncodeError)
"""What the driver raises for a statement: the second for a text that has no UTF-8 (half of a surrogate pair)."""
_OF_VALUES = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError)


def fault(place: ServerDatabase, error: Exception, *, connected: bool = True) -> DatabaseFault:
    """Return the fault for an error of PostgreSQL or its driver: what happened to which database, and what helps.

    `connected`: whether the error came from a connection that once was open."""
    if isinstance(error, UnicodeEncodeError):
        return RefusedValue(f"{place}: cannot hold a text whose characters are not all Unicode")
    said = _said(error, place)
    code = getattr(error, "sqlstate", None) or ("" if connected else _refusal(said))
    if code in _PASSING:
        return _KINDS.get(code, PassingFault)(f"{place}: {_PASSING[code]}")
    if not connected:
        if code in _NEEDS:
            return DatabaseFault(f"{place}: {_NEEDS[code]}")
        return UnreachableServer(
            f"{place}: cannot be reached: {said}; check the host and port, and that the server runs"
        )
    if code in _NEEDS:
        return DatabaseFault(f"{place}: {_NEEDS[code]} ({said})")
    if code[:2] in ("08", "57", "58") or isinstance(error, psycopg.InterfaceError) or not code:
        return PassingFault(f"{place}: the connection was lost ({said}); no settled visit is lost")
    if isinstance(error, _OF_VALUES):
        return RefusedValue(f"{place}: {said}")
    return DatabaseFault(f"{place}: {said}")


def _refusal(said: str) -> str:
    """Return the SQLSTATE of a refusal to connect; '' for one that is not known."""
    return next((code for words, code in _REFUSALS.items() if words in said), "")


def _said(error: Exception, place: ServerDatabase) -> str:
    """Return the first line of what an error says, without the parts of the URL that give access."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = lines[0].partition("FATAL:  ")[2] or lines[0]
    for secret in place.secrets():
        line = line.replace(secret, "***")
    return line[:300]
