"""Real map servers and catalogues on free loopback ports, for tests and measurements.

The start script and its configurations come with the recorded data (`shared/notes/servers`); the programs are Debian
packages; MapProxy, pycsw, PyWPS and pygeoapi lie in an environment of their own (`.venv-servers`, or $GEO_PYTHON names
its interpreter).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

NAMES = ("mapserver", "qgis", "mapcache", "mapproxy", "pygeoapi", "pycsw", "pywps", "extras")
PROGRAMS = {
    "/usr/lib/cgi-bin/mapserv": "cgi-mapserver",
    "/usr/lib/cgi-bin/qgis_mapserv.fcgi": "qgis-server",
    "/usr/lib/cgi-bin/mapcache": "mapcache-cgi",
    "/usr/bin/gdal_translate": "gdal-bin",
    "/usr/sbin/lighttpd": "lighttpd",
}
"""What the start script runs, and the Debian package it comes from."""
START_LIMIT_S = 600


def interpreter() -> Path:
    """The Python that has MapProxy, pycsw, pygeoapi, PyWPS and waitress."""
    return Path(os.environ.get("GEO_PYTHON") or ROOT / ".venv-servers" / "bin" / "python")


def missing() -> str:
    """What has to be installed before the servers can run, '' when all is there."""
    absent = [package for program, package in PROGRAMS.items() if not Path(program).is_file()]
    if not (interpreter().is_file() and interpreter().with_name("pygeoapi").is_file()):
        absent.append(f"{interpreter()} with MapProxy, pycsw, pygeoapi, PyWPS and waitress")
    return ", ".join(absent)


@contextmanager
def running(shared: Path, names: tuple[str, ...] = NAMES) -> Iterator[dict[str, dict[str, Any]]]:
    """Start the servers; yields their URLs by server (`wms`, `html`, `redirect` …). All are ended afterwards."""
    script = shared / "notes" / "servers" / "start_servers.py"
    command = [sys.executable, str(script), "--only", ",".join(names)]
    env = {**os.environ, "GEO_PYTHON": str(interpreter())}
    # The script ends its servers and itself when its standard input is closed.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as started:
        assert started.stdin is not None and started.stdout is not None, "asked for pipes"
        try:
            line = started.stdout.readline()
            if not line:
                raise RuntimeError(f"{script.name} ended without servers (exit code {started.wait(START_LIMIT_S)})")
            yield json.loads(line)["servers"]
        finally:
            started.stdin.close()
            started.wait(START_LIMIT_S)
