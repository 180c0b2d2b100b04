"""Where things lie: configuration files, and the database.

Folders follow the XDG Base Directory Specification with the environment that is handed in; on macOS and Windows
platformdirs knows the customs.
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


def configuration_files(environ: Mapping[str, str], cwd: Path) -> tuple[Path, ...]:
    """Where configuration is looked for, the strongest first; they need not exist."""
    # `sudo -u` leaves people in folders that are closed to them: there is nothing of theirs in those.
    here = (cwd / FILE_IN_FOLDER,) if os.access(cwd, os.X_OK) else ()
    try:
        own = (user_folder("config", environ) / "config.toml",)
    except EnvironmentFault:  # a service account without a home has no file of its own
        return (*here, SYSTEM_FILE)
    return (*here, *own, SYSTEM_FILE)


def user_folder(kind: str, environ: Mapping[str, str]) -> Path:
    """The user's folder for this program: `kind` is config, data or cache. It is not created.

    Raises EnvironmentFault for a user without a home folder.
    """
    given = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if Path(given).is_absolute():  # the specification: a relative one is to be ignored
        return Path(given) / "geocrawl"
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        folder: str = getattr(platformdirs, f"user_{kind}_dir")("geocrawl", appauthor=False)
        return Path(folder)
    below = {"config": ".config", "data": ".local/share", "cache": ".cache"}[kind]
    return _home(environ) / below / "geocrawl"


def database_path(settings: Settings, environ: Mapping[str, str]) -> Path:
    """The catalogue's file: setting `db`, a path or `sqlite:///path`; by default geocrawl.db in the user's data folder.

    Raises UsageError for another engine, EnvironmentFault when there is no data folder to take.
    """
    if not settings.db:
        try:
            return user_folder("data", environ) / DATABASE_NAME
        except EnvironmentFault as fault:
            raise EnvironmentFault(f"{fault}; say where the catalogue shall lie: --db FILE") from None
    return _expanded(sqlite_path(settings.db), environ)


def sqlite_path(text: str) -> str:
    """The path within `sqlite:///path` (four slashes: an absolute one); a text without scheme is a path itself.

    Raises UsageError for the scheme of another engine, and for a path that is none.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        return text
    if scheme.lower() != "sqlite":
        raise UsageError(f"db {scheme}://…: only SQLite is there; give a path or sqlite:///path")
    if not rest.startswith("/") or len(rest) < 2:
        raise UsageError(f"db {text!r}: three slashes stand before a relative path, four before an absolute one")
    return rest[1:]


def _expanded(text: str, environ: Mapping[str, str]) -> Path:
    if text == "~" or text.startswith("~/"):
        return _home(environ) / text[2:]
    return Path(text)


def _home(environ: Mapping[str, str]) -> Path:
    """The home folder, by HOME or else by the user database."""
    if Path(environ.get("HOME", "")).is_absolute():
        return Path(environ["HOME"])
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise EnvironmentFault("this user has no home folder (HOME is not set)") from None
