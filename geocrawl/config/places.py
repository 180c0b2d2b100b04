"""Locate configuration files and the database.

Folders follow the XDG Base Directory Specification, with the environment that is passed in; on macOS and Windows
platformdirs names them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.settings import Settings

FILE_IN_FOLDER = "geocrawl.toml"
SYSTEM_FILE = Path("/etc/geocrawl/config.toml")
DATABASE_NAME = "geocrawl.db"
MEMORY = ":memory:"
"""The path of a database in memory, which ends with its process: SQLite's own name for it."""


def configuration_files(environ: Mapping[str, str], cwd: Path) -> tuple[Path, ...]:
    """Return the files in which configuration is looked for, the strongest first; they need not exist."""
    # `sudo -u` leaves people in folders that are closed to them: no configuration of theirs is in them.
    here = (cwd / FILE_IN_FOLDER,) if os.access(cwd, os.X_OK) else ()
    try:
        own = (user_folder("config", environ) / "config.toml",)
    except EnvironmentFault:  # a service account without a home has no file of its own
        return (*here, SYSTEM_FILE)
    return (*here, *own, SYSTEM_FILE)


def user_folder(kind: str, environ: Mapping[str, str]) -> Path:
    """Return the user's folder for this program, without creating it; `kind` is config, data or cache.

    Raises EnvironmentFault for a user without a home folder.
    """
    folder_of_kind = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if Path(folder_of_kind).is_absolute():  # the specification: a relative one is to be ignored
        return Path(folder_of_kind) / "geocrawl"
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        folder: str = getattr(platformdirs, f"user_{kind}_dir")("geocrawl", appauthor=False)
        return Path(folder)
    below = {"config": ".config", "data": ".local/share", "cache": ".cache"}[kind]
    return _home(environ) / below / "geocrawl"


def database_path(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Return the catalogue's file: setting `db` (a path or `sqlite:///path`), else geocrawl.db in the data folder.

    Raises UsageError for another engine, EnvironmentFault for a user without a data folder.
    """
    if not settings.db:
        try:
            return user_folder("data", environ) / DATABASE_NAME
        except EnvironmentFault as fault:
            raise EnvironmentFault(f"{fault}; name the catalogue: --db FILE") from None
    return _expanded(sqlite_path(settings.db), environ)


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


def _expanded(text: str, environ: Mapping[str, str]) -> Path:
    if text == "~" or text.startswith("~/"):
        return _home(environ) / text[2:]
    return Path(text)


def _home(environ: Mapping[str, str]) -> Path:
    """Return the home folder, from HOME or else from the user database."""
    if Path(environ.get("HOME", "")).is_absolute():
        return Path(environ["HOME"])
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise EnvironmentFault("this user has no home folder (HOME is not set)") from None
