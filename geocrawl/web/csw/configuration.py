"""Say how pycsw serves a catalogue, and which interpreter has pycsw."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geocrawl.errors import EnvironmentFault

PACKAGE = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("pycsw_side")
"""What the other interpreter runs."""
REQUIREMENTS = "pycsw==2.6.2 waitress==3.0.2"
_HOW = (
    "`make csw-env` in a checkout, elsewhere `python3 -m venv csw && csw/bin/pip install "
    f"{REQUIREMENTS}`, and name csw/bin/python in the setting csw_python"
)
_CHECK_S = 60
_CONTACT = (
    *("name", "position", "address", "city", "stateorprovince", "postalcode", "country", "phone", "fax", "email"),
    *("url", "hours", "instructions", "role"),
)
"""What pycsw wants to say of a contact, which geocrawl leaves empty."""
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class CswOptions:
    """Options of `geocrawl serve --csw`: the catalogue, and where CSW clients reach it."""

    database: Path
    host: str = "127.0.0.1"
    port: int = 8081
    url: str = ""
    """Address under which clients reach it, behind a reverse proxy; '' for its own."""


def find_interpreter(named: str) -> Path:
    """Return the Python that has pycsw: the named one, else that of `make csw-env` in this checkout. Raises
    EnvironmentFault, with how to make it, when there is none or it lacks pycsw."""
    path = Path(named).expanduser() if named else PACKAGE.parent / ".venv-csw" / "bin" / "python"
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise EnvironmentFault(f"--csw: there is no Python with pycsw at {path}. To make it: {_HOW}")
    command = [str(path), "-c", "import pycsw.server, waitress"]
    try:
        checked = subprocess.run(command, capture_output=True, text=True, timeout=_CHECK_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFault(f"--csw: {path} cannot be run: {error}") from error
    if checked.returncode != 0:
        reason = (checked.stderr.strip().splitlines() or [f"exit code {checked.returncode}"])[-1]
        raise EnvironmentFault(f"--csw: {path} lacks pycsw ({reason}). To make it: {_HOW}")
    return path


def configuration_of(options: CswOptions) -> dict[str, Any]:
    """Return what `pycsw_side` reads from its standard input."""
    shown = f"[{options.host}]" if ":" in options.host else options.host
    public = urlsplit(options.url).hostname or ""
    is_local = options.host in ("localhost", "127.0.0.1", "::1")
    return {
        "database": str(options.database.absolute()),
        "host": options.host,
        "port": options.port,
        "hosts": [*_LOCAL, shown, *([public] if public else [])] if is_local or public else [],
        "fold": str(PACKAGE / "search" / "fold.py"),
        "sanitize": str(PACKAGE / "sanitize.py"),
        "pycsw": _pycsw(options.url or f"http://{shown}:{options.port}/"),
    }


def _pycsw(url: str) -> dict[str, dict[str, str]]:
    """Return pycsw's own configuration, by section."""
    return {
        "server": {
            "url": url.replace("%", "%%"),
            "mimetype": "application/xml; charset=UTF-8",
            "encoding": "UTF-8",
            "language": "en-US",
            "maxrecords": "100",
            "pretty_print": "false",
            "domaincounts": "true",
        },
        "manager": {"transactions": "false"},
        "metadata:main": {
            "identification_title": "geocrawl",
            "identification_abstract": "Geospatial web services found by a crawl, each proved by asking it.",
            "identification_keywords": "geospatial,web services,catalogue,WMS,WFS,WMTS",
            "identification_keywords_type": "theme",
            "identification_fees": "None",
            "identification_accessconstraints": "None",
            "provider_name": "geocrawl",
            "provider_url": url.replace("%", "%%"),
            **{f"contact_{each}": "" for each in _CONTACT},
        },
        "repository": {"source": "pycsw_side.repository.Repository"},
    }
