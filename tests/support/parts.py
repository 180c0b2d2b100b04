"""The parts that a machine may lack. A test that needs one skips, and the last lines of a run say how to get it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import pytest

_REASON = re.compile(r"needs ([^:]+): (.+)", re.DOTALL)


@dataclass(frozen=True)
class Part:
    """Something outside this repository that some tests need."""

    name: str
    how: str
    """How to get it, after "needs NAME: "."""
    in_ci: bool = False
    """Whether `.ci/run` installs it: where the variable CI is set, a test without it fails."""

    @property
    def reason(self) -> str:
        """Return why a test without this part is skipped."""
        return f"needs {self.name}: {self.how}"


CHROMIUM = Part("Chromium", "apt install chromium", in_ci=True)
DATASETTE = Part("Datasette", "pip install datasette, and have it on PATH or name it by DATASETTE")
GEOPANDAS = Part("geopandas", ".venv/bin/pip install geopandas")
ISO_SCHEMAS = Part(
    "the schemas of ISO 19115-3",
    "name by ISO_SCHEMAS the folder schemas.isotc211.org of https://github.com/ISO-TC211/XML",
)
MAP_LIBRARIES = Part("OpenLayers and Leaflet from npm", "npm install ol leaflet, and name their folder by NODE_MODULES")
NAMESPACES = Part("namespaces of Linux", "run as root, or where users may unshare (unshare --user --net --mount)")
NODE = Part("Node.js", "apt install nodejs")
NO_ROOT = Part("an ordinary user", "run as another user than root, who may read every file")
OLD_TLS = Part("an OpenSSL that speaks TLS 1.0 and 1.1", "this machine's settings forbid it (OPENSSL_CONF)")
OPENSSL = Part("the command openssl", "apt install openssl", in_ci=True)
POSTGRESQL = Part("PostgreSQL", "apt install postgresql", in_ci=True)
PROMTOOL = Part("promtool", "apt install prometheus", in_ci=True)
PYCSW = Part("pycsw", "make csw-env")
QGIS = Part("QGIS", "apt install python3-qgis qgis-providers", in_ci=True)
READABLE_PYTHON = Part("a Python that other users can run", "its folder is closed to them: use /usr/bin/python3")
ROOT_USER = Part("root", "run as root")
RECORDED = Part("recorded worlds and answers", "put them at ../shared or at $GEOCRAWL_SHARED", in_ci=True)
SPARK = Part("Spark and Java", ".venv/bin/pip install pyspark; apt install default-jre-headless")
SYSTEMD_ANALYZE = Part("systemd-analyze", "apt install systemd")


def lack(part: Part) -> NoReturn:
    """Skip the running test for want of a part; fail it in CI, where `.ci/run` has installed the part."""
    if part.in_ci and os.environ.get("CI"):
        pytest.fail(part.reason)
    pytest.skip(part.reason)


def skipped_parts(reasons: Iterable[str]) -> list[str]:
    """Return a line for each part in the reasons of skipped tests: how many tests, and how to get the part."""
    lacking = Counter(found.groups() for reason in reasons if (found := _REASON.search(reason)))
    return [f"{name}: {tests(number)} skipped; {how}" for (name, how), number in sorted(lacking.items())]


def tests(number: int) -> str:
    """Return "1 test" or "N tests"."""
    return f"{number} test{'' if number == 1 else 's'}"
