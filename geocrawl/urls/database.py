"""Read the URL that names a database: `sqlite:///path`, `sqlite://`, a path, or `postgresql://user@host/name`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from geocrawl.errors import UsageError

MEMORY = ":memory:"
"""The path of a database in memory, which ends with its process: SQLite's own name for it."""
_SERVER_SCHEMES = frozenset({"postgresql", "postgres"})
_NO_PATH = re.compile(
    r"\A(?:postgres|postgresql):|(?:\A|\s)(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=",
    re.IGNORECASE,
)
"""Finds a server that is not named by a URL: libpq's list of keywords and values (`host=… dbname=…`), or a URL that
lacks its slashes."""
_NO_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class ServerDatabase:
    """A database on a PostgreSQL server. As text it is its host and name: nothing that gives access."""

    url: str = field(repr=False)
    """`postgresql://…` as libpq reads it, with user and password."""

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        named = parse_qs(parts.query)
        host = parts.netloc.rpartition("@")[2] or ",".join(named.get("host", ()))
        return f"postgresql://{host}/{parts.path.strip('/') or ','.join(named.get('dbname', ()))}"

    def secrets(self) -> tuple[str, ...]:
        """Return the passwords in the URL, as written and decoded: no message shows them."""
        parts = urlsplit(self.url)
        passwords = [parts.password or "", unquote(parts.password or ""), *parse_qs(parts.query).get("password", ())]
        return tuple(dict.fromkeys(filter(None, passwords)))


DatabaseUrl = Path | ServerDatabase
"""Where a database is: a file (`Path(MEMORY)`: this process's memory), or a database of a server."""


def is_server(text: str) -> bool:
    """Return whether a text is the URL of a database on a server."""
    scheme, separator, _ = text.partition("://")
    return bool(separator) and scheme.lower() in _SERVER_SCHEMES


def sqlite_path(text: str) -> str:
    """Return the path within `sqlite:///path` (four slashes: an absolute one), `MEMORY` for `sqlite://`. A text without
    scheme is a path itself.

    Raises UsageError for the scheme of another engine, for a missing path, and for what names a server in another form
    than a URL's, which may contain a password: as a path it would be printed, and a file be made of it.
    """
    scheme, separator, rest = text.partition("://")
    if not separator and _NO_PATH.search(text):
        raise UsageError(
            "db …: names a server, but not as a URL; expected postgresql://user@host:port/name (a file of such a name: "
            "with ./ before it)"
        )
    if not separator:
        return text
    if scheme.lower() != "sqlite":
        raise UsageError(
            f"db {scheme}://…: only SQLite and PostgreSQL are supported; give a path, sqlite:///path, sqlite:// for "
            "one in memory, or postgresql://user@host/name"
        )
    if not rest:
        return MEMORY
    if not rest.startswith("/") or len(rest) < 2:
        raise UsageError(f"db {text!r}: expected three slashes before a relative path, four before an absolute one")
    return rest[1:]


def server_of(text: str) -> ServerDatabase:
    """Return the database of a server that a URL names. Raises UsageError for a URL that cannot be read."""
    try:
        parts = urlsplit(text)
        named = parse_qs(parts.query, strict_parsing=bool(parts.query))
        _ = parts.port
    except ValueError:  # its message may quote the password
        raise UsageError("db postgresql://…: cannot be read; expected postgresql://user@host:port/name") from None
    if _NO_ESCAPE.search(text):
        raise UsageError("db postgresql://…: has a % that begins no escape; write %25 for a % of a password or a name")
    if parts.netloc.count("@") > 1:
        raise UsageError("db postgresql://…: has a second @; write %40 for one of the user's name or the password")
    if not parts.path.strip("/") and "dbname" not in named:
        raise UsageError("db postgresql://…: names no database; expected postgresql://user@host/name")
    return ServerDatabase(text)


def place_of(url: str | DatabaseUrl) -> DatabaseUrl:
    """Return the place of the database that `url` names; `Path(MEMORY)` for one in memory. Raises UsageError as
    `sqlite_path` and `server_of` do."""
    if not isinstance(url, str):
        return url
    return server_of(url) if is_server(url) else Path(sqlite_path(url))


def file_of(url: str | DatabaseUrl, what: str) -> Path:
    """Return the path of the database that `url` names, for `what` works on files alone ("a backup"). Raises UsageError
    for a database of a server."""
    place = place_of(url)
    if isinstance(place, ServerDatabase):
        raise UsageError(f"{place}: {what} is for SQLite's files alone; docs/postgresql.md tells what to use instead")
    return place
