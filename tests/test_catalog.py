"""The catalogue from Python: what it returns, what it refuses, and the documented examples."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from geocrawl import Catalog
from geocrawl.demo.ows_documents import CapabilitiesContents, capabilities
from geocrawl.errors import DatabaseFault, NothingFound, UsageError
from geocrawl.filters import Filters, QueryError
from tests.store.catalogue.test_services import DEAD, PACIFIC, ROADS
from tests.support.parts import GEOPANDAS
from tests.support.places import ROOT
from tests.support.world import World, candidate, verdict

PAGES = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("python.md", "search.md"))
EXAMPLES = re.findall(r"^```python\n(.+?)^```", PAGES, re.M | re.S)


ROADS_OF_THE_SERVER = CapabilitiesContents(
    "Roads", "", (), "Survey", "http://127.0.0.1/wms", (("roads", "Roads"),), (5.0, 45.0, 10.0, 50.0)
)


class _Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.end_headers()
        self.wfile.write(capabilities(ROADS_OF_THE_SERVER, "1.3.0").encode())

    def log_message(self, *_: object) -> None: ...


@contextmanager
def answering() -> Iterator[str]:
    """The address of a server on loopback that answers every request with the capabilities of a WMS."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def make(path: Path, roads_at: str = "a.example") -> Path:
    world = World(path)
    for number, (at, service) in enumerate(
        (
            (f"{roads_at}/wms", ROADS),
            ("b.example/wms?token=sesame", PACIFIC),
            ("c.example", DEAD),
        )
    ):
        world.record(candidate(at), verdict("ok", service), 1e6 + number)
    world.record(candidate("c.example"), verdict("http-404"), 2e6)
    world.store.close()
    return path


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return make(tmp_path / "geocrawl.db")


def test_services_are_found_and_read(db: Path) -> None:
    with Catalog(db) as catalog:
        assert [each.title for each in catalog.search("roads")] == ["Roads"]
        assert {each.title for each in catalog.search()} == {"Roads", "Pacific", "Dead"}
        assert [each.title for each in catalog.services()] == ["Roads", "Pacific", "Dead"]
        assert [each.title for each in catalog.services("alive:yes")] == ["Roads", "Pacific"]
        assert [each.title for each in catalog.search(filters=Filters(box=(0, 40, 6, 46)))] == ["Roads"]
        assert len(catalog.search(limit=2)) == 2 and len(catalog.search(limit=2, offset=2)) == 1
        service = catalog.get(1)
        assert (service.kind, service.alive, service.box, service.layers) == ("wms", True, (5, 45, 10, 50), 1)
        assert [each.name for each in catalog.layers(1)] == ["", "roads"]
        (history,) = catalog.history(3)
        assert history.health == "degraded" and [event["after"] for event in history.events] == ["degraded", "alive"]


def test_keys_are_masked_unless_they_are_wanted(db: Path) -> None:
    with Catalog(db) as catalog:
        assert catalog.get(2).url == catalog.history(2)[0].url == "http://b.example/wms?token=***"
        with pytest.raises(UsageError, match="its key is masked"):
            catalog.get(2).owslib()
    with Catalog(f"sqlite:///{db}", with_secrets=True) as catalog:
        assert catalog.get(2).url == catalog.history(2)[0].url == "http://b.example/wms?token=sesame"


def test_errors_are_for_people(db: Path, tmp_path: Path) -> None:
    with pytest.raises(DatabaseFault, match="no such database"):
        Catalog(tmp_path / "none.db")
    with Catalog(db) as catalog:
        with pytest.raises(NothingFound, match="no service 99"):
            catalog.get(99)
        with pytest.raises(NothingFound):
            catalog.layers(0)
        with pytest.raises(QueryError):
            catalog.search("alive:soon")
        with pytest.raises(QueryError):
            catalog.search(limit=100_000)
        with pytest.raises(UsageError, match="no client for this kind"):
            replace(catalog.get(1), kind="arcgis").owslib()


def test_the_catalogue_of_the_settings_is_the_default(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOCRAWL_DB", str(db))
    with Catalog() as catalog:
        assert catalog.get(1).title == "Roads"


def test_nothing_is_written(db: Path) -> None:
    before = db.read_bytes()
    with Catalog(db) as catalog:
        catalog.search("roads")
        list(catalog.services())
    assert db.read_bytes() == before


def test_owslib_opens_a_service(tmp_path: Path) -> None:
    with answering() as server, Catalog(make(tmp_path / "c.db", server)) as catalog:
        assert catalog.get(1).owslib(timeout_s=10)["roads"].title == "Roads"


def test_geopandas_is_named_where_it_is_missing(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object, **more: object) -> object:
        if name == "geopandas":
            raise ImportError(name)
        return real(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with Catalog(db) as catalog, pytest.raises(UsageError, match="pip install geopandas"):
        catalog.to_geodataframe()


def test_a_geodataframe_has_every_service(db: Path) -> None:
    pytest.importorskip("geopandas", reason=GEOPANDAS.reason)
    with Catalog(db) as catalog:
        frame = catalog.to_geodataframe()
        assert list(frame["title"]) == ["Roads", "Pacific", "Dead"] and frame.crs == "EPSG:4326"
        assert len(catalog.to_geodataframe("kind:wfs")) == 0


def test_the_package_itself_loads_nothing() -> None:
    code = (
        "import sys, geocrawl; print([name for name in sys.modules if name.startswith('geocrawl.')], len(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[] ")
    assert int(done.stdout.split()[-1]) < 150
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        import geocrawl

        geocrawl.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_documented_example_runs(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "geodataframe" in example:
        pytest.importorskip("geopandas", reason=GEOPANDAS.reason)
    with answering() as server:
        make(tmp_path / "geocrawl.db", server)
        monkeypatch.chdir(tmp_path)
        exec(compile(example, "docs", "exec"), {})
    assert capsys.readouterr().out.strip()
