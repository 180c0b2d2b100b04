"""The servers, started once for all tests of this folder; without them the tests are skipped, in CI they fail."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.servers import mapservers
from tests.support import forked
from tests.support.parts import Part, lack
from tests.support.processes import clean_environment


@dataclass(frozen=True)
class Expected:
    """What a server's configuration says of itself."""

    title: str
    layers: int
    """Layers with a name."""


EXPECTED = {
    "mapserver": Expected("Demo map server: Zürich & 地图", 5),
    "qgis": Expected("Demo QGIS server: Zürich & 地图", 4),
    "mapproxy": Expected("Demo MapProxy: Zürich & 地图", 2),
}


@pytest.fixture(scope="session")
def servers(shared: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """URLs of the running servers, by server and kind of service."""
    absent = mapservers.missing()
    if absent:
        lack(Part(f"map servers ({absent})", ".ci/run installs them", in_ci=True))
    with mapservers.running(shared) as started:
        yield started


class Geocrawl:
    """The command line with a home of its own."""

    def __init__(self, home: Path) -> None:
        self._env = clean_environment(home)
        self.db = home / "catalogue.db"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One command to its end."""
        return forked.geocrawl(arguments, env=self._env)

    def probe(self, url: str, *options: str) -> dict[str, Any]:
        """The verdict on one address, with the command's exit code as `exit_code`."""
        done = self.run("probe", url, "--json", "--allow-private", "--delay", "0", *options)
        lines = done.stdout.splitlines()
        assert lines, f"no verdict on {url}: {done.stderr}"
        verdict: dict[str, Any] = json.loads(lines[0])
        return {**verdict, "exit_code": done.returncode}


@pytest.fixture
def command(tmp_path: Path) -> Geocrawl:
    """geocrawl without any user's settings."""
    return Geocrawl(tmp_path)
