"""Read the URL that names a database: `sqlite:///path`, `sqlite://`, or a path."""

from __future__ import annotations

from pathlib import Path

from geocrawl.errors import UsageError

MEMORY = ":memory:"
"""The path of a database in memory, which ends with its process: SQLite's own name for it."""


def sqlite_path(text: str) -> str:
    """Return the path within `sqlite:///path` (four slashes: an absolute one), `MEMORY` for `sqlite://`. A text without
    scheme is a path itself.

    Raises UsageError for the scheme of another engine, and for a missing path.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        return text
    if scheme.lower() != "sqlite":
        raise UsageError(
            f"db {scheme}://…: only SQLite is supported; give a path, sqlite:///path, or sqlite:// for one in memory"
        )
    if not rest:
        return MEMORY
    if not rest.startswith("/") or len(rest) < 2:
        raise UsageError(f"db {text!r}: expected three slashes before a relative path, four before an absolute one")
    return rest[1:]


def path_of(url: str | Path) -> Path:
    """Return the path of the database that `url` names; `Path(MEMORY)` for one in memory. Raises UsageError as
    `sqlite_path` does."""
    return url if isinstance(url, Path) else Path(sqlite_path(url))
