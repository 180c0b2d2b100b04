"""geocrawl as people install it: from its wheel, in an environment and a folder that know nothing of the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.places import ROOT
from tests.support.processes import clean_environment

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment with geocrawl's wheel, and the libraries of this one beside it."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=True)
    pip: list[str | Path] = [folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", ROOT]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    libraries = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    # A line with a path: files .pth in it, by which the checkout is found, are not read.
    (libraries / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def run(installed: Path, home: Path, *arguments: str | Path) -> str:
    command: list[str | Path] = [installed / "bin" / "geocrawl", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, env=clean_environment(home), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def catalogue(installed: Path, home: Path) -> Path:
    assert json.loads(run(installed, home, "demo", "--json"))["pages"] > 200
    return next(home.rglob("demo.db"))


@pytest.fixture
def address(installed: Path, home: Path, catalogue: Path) -> Iterator[str]:
    """The address at which the installed geocrawl serves the demo's catalogue."""
    port = 20_000 + os.getpid() % 20_000
    command: list[str | Path] = [installed / "bin" / "geocrawl", "serve", "--db", catalogue, "--port", str(port)]
    process = subprocess.Popen(command, cwd=home, env=clean_environment(home), stderr=subprocess.DEVNULL)
    for _ in range(3_000):
        time.sleep(0.1)
        try:
            httpx.get(f"http://127.0.0.1:{port}/", trust_env=False, timeout=60)
            break
        except httpx.TransportError:
            assert process.poll() is None, "serve ended"
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(300)


def test_it_is_the_installed_one_that_runs(installed: Path, home: Path) -> None:
    assert run(installed, home, "--version").startswith("geocrawl ")
    code: list[str | Path] = [installed / "bin" / "python", "-c", "import geocrawl; print(geocrawl.__file__)"]
    where = subprocess.run(code, capture_output=True, text=True, cwd=home, check=True).stdout
    assert where.startswith(str(installed))


def test_the_man_page_is_installed(installed: Path) -> None:
    assert (installed / "share/man/man1/geocrawl.1").read_bytes() == (ROOT / "man/geocrawl.1").read_bytes()


def test_files_beside_the_code_are_installed(installed: Path, home: Path, catalogue: Path) -> None:
    assert len(run(installed, home, "seeds", "list", "--shipped").splitlines()) > 100
    assert json.loads(run(installed, home, "metrics", "--grafana"))["panels"]
    assert "geocrawl.service" in run(installed, home, "service", "install", "--root", home / "root", "--dry-run")
    assert "土地" in run(installed, home, "search", "landuse", "--db", catalogue), "the synonyms"
    drawn = home / "map.svg"
    run(installed, home, "stats", "--picture", "map", "--out", drawn, "--db", catalogue)
    assert "<svg" in drawn.read_text("utf-8"), "the base map"


def test_pages_and_all_they_load_are_served(address: str) -> None:
    with httpx.Client(base_url=address, trust_env=False, timeout=120, headers={"Accept": "text/html"}) as client:
        page = client.get("/collections/services/items?q=rivers")
        assert page.status_code == 200 and "Rivers of the water agency" in page.text
        for path in ("/collections/services/items/1", "/statistics", "/operations", "/api", "/?lang=zh"):
            assert client.get(path).status_code == 200, path
    for name in sorted(path.name for path in (ROOT / "geocrawl/web/static").iterdir()):
        assert httpx.get(f"{address}/static/{name}", trust_env=False, timeout=120).status_code == 200, name
