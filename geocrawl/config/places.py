"""Locate configuration files and the database.

Folders follow the XDG Base Directory Specification, with the environment that is passed in; on macOS and Windows
platformdirs names them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from geocrawl.errors import EnvironmentFault
from geocrawl.settings import Settings
from geocrawl.urls.database import Place, is_server, server_of, sqlite_path

FILE_IN_FOLDER = "geocrawl.toml"
SYSTEM_FILE = Path("/etc/geocrawl/config.toml")
DATABASE_NAME = "geocrawl.db"


def configuration_files(environ: Mapping[str, str], cwd: Path) -> tuple[Path, ...]:
    """Return the possible configuration files, the one with the highest precedence first; they need not exist."""
    # `sudo -u` may leave the user in a folder without access: such a folder is skipped.
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
    if Path(folder_of_kind).is_absolute():  # the XDG specification says to ignore a relative path
        return Path(folder_of_kind) / "geocrawl"
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        folder: str = getattr(platformdirs, f"user_{kind}_dir")("geocrawl", appauthor=False)
        return Path(folder)
    below = {"config": ".config", "data": ".local/share", "cache": ".cache"}[kind]
    return _home(environ) / below / "geocrawl"


def database_path(settings: Settings, environ: Mapping[str, str]) -> Place:
    """Return where the catalogue is: setting `db` (a path, `sqlite:///path`, `postgresql://…`), else geocrawl.db in the
    data folder.

    Raises UsageError for another engine, EnvironmentFault for a user without a data folder.
    """
    if not settings.db:
        try:
            return user_folder("data", environ) / DATABASE_NAME
        except EnvironmentFault as fault:
            raise EnvironmentFault(f"{fault}; name the catalogue: --db FILE") from None
    return server_of(settings.db) if is_server(settings.db) else _expanded(sqlite_path(settings.db), environ)


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
