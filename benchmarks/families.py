"""Harvest one catalogue of each family, rebuilt as tests have them or a real server: records stated and read, services.

A rebuilt list that states a total has seven records in pages of three, and each names a WMS of its own, which answers.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from geocrawl.app.harvest import run_harvest
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.crawler.report import FAMILIES as NAMES
from geocrawl.demo.ows_documents import CapabilitiesContents, capabilities
from geocrawl.lab.recorded_worlds.replay import Response
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from tests.app.families import FAMILIES, PortalWeb
from tests.app.recorded_web import Answers, environment
from tests.app.test_more_families import LAYERS, NGINX, Repository, bucket, iso
from tests.app.test_slices import Csw
from tests.page.test_thredds import catalogue, folder
from tests.servers import mapservers
from tests.support.places import shared_folder

_SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, strategy="bfs", workers=1)
_MAP = CapabilitiesContents("Map", "Areas", ("water",), "Town", "http://m.example/maps", (("a", "A"),), (5, 45, 11, 48))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add no option: there is one size."""


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return a row for each family; goal: all records that a list states are read."""
    rows = [_row(*each) for each in _rebuilt()]
    rows += [_row(name, address, None) for name, address in _of_servers()]
    missed = [row["family"] for row in rows if row["stated"] not in (None, row["read"])]
    return {"families": rows, "missed": missed}


def _rebuilt() -> Iterator[tuple[str, str, Answers]]:
    """Yield the name, the address to harvest and the web of each rebuilt family."""
    for family in FAMILIES:
        start = "/" if family.homes else family.path + (f"?{family.query}" if family.query else "")
        yield NAMES[family.key], f"http://p.example{start}", PortalWeb(family)
    yield "OAI-PMH", "http://r.example/", Repository("oai_dc", "iso19139")
    csw = Answers({"c.example/csw": Csw(1500, language="CQL_TEXT")})
    yield "CSW, 600 of a list, CQL alone", "http://c.example/csw?service=CSW&request=GetCapabilities", csw
    inner = {f"t.example/thredds/{n}/catalog.xml": catalogue(folder(f"in{n}", 3)).encode() for n in (1, 2)}
    refs = "".join(f'<catalogRef xlink:href="{n}/catalog.xml"/>' for n in (1, 2))
    places = {"t.example/thredds/catalog.xml": catalogue(refs).encode(), **inner}
    nested = Answers({key: ("text/xml", body) for key, body in places.items()})
    yield "THREDDS, nested", "http://t.example/thredds/catalog.xml", nested
    files = {f"f.example/md/{n}.xml": ("application/xml", iso(n).encode()) for n in range(7)}
    listed = NGINX.format("".join(f'<a href="{n}.xml">{n}.xml</a>' for n in range(7)))
    files["f.example/md/"] = ("text/html", listed.encode())
    yield "folder of records", "http://f.example/md/", Answers(files)
    keys = {f"s.example/open/md/{n}.xml": ("application/xml", iso(n).encode()) for n in (1, 2, 3)}
    yield "bucket of an object store", "http://s.example/open?list-type=2", Answers({"s.example/open": bucket, **keys})
    named = [{"accessURL": f"http://m.example/maps/{n}", "format": "WMS"} for n in range(7)]
    sets = {"dataset": [{"title": "x", "distribution": [each]} for each in named]}
    yield "data.json", "http://d.example/data.json", _json("d.example/data.json", sets)
    yield "index of imagery", "http://i.example/imagery.json", _json("i.example/imagery.json", LAYERS)
    services = [{"name": "roads", "type": "MapServer"}]
    root = "a.example/arcgis/rest/services"
    yield "folder of an ArcGIS Server", f"http://{root}", _json(root, {"currentVersion": 11.1, "services": services})


def _json(place: str, data: object) -> Answers:
    return Answers({place: ("application/json", json.dumps(data).encode())})


class _WithServices(Answers):
    """A rebuilt web and the map servers that its records name."""

    def __init__(self, web: Answers) -> None:
        super().__init__({})
        self.web, self.requests = web, 0

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """Answer as the web does; at map servers with capabilities of a WMS."""
        if "m.example" in host or "/thredds/w" in target:
            return Response(200, [("Content-Type", "text/xml")], capabilities(_MAP, "1.3.0").encode(), "page")
        self.requests += target != "/robots.txt"
        return self.web.respond(scheme, host, target)


def _row(name: str, address: str, web: Answers | None) -> dict[str, Any]:
    """Return what a harvest of a web's catalogue, or of a real server at the address, read and found."""
    served = _WithServices(web) if web else None
    url = read_url(address)
    assert url is not None, address
    with tempfile.TemporaryDirectory() as folder:
        within = environment(served) if served else None
        settings = replace(_SETTINGS, allow_private=served is None)
        observer = LogObserver(log_to(io.StringIO()))
        report = run_harvest(settings, Path(folder) / "c.db", url, observer=observer, environment=within)
    stated = [source.stated for source in report.sources if source.stated is not None]
    return {
        "family": name,
        "source": "rebuilt" if web else "real",
        "stated": sum(stated) if stated else None,
        "read": sum(source.read for source in report.sources) if report.sources else None,
        "services": report.services,
        "requests": served.requests if served else report.summary.pages,
    }


def _of_servers() -> Iterator[tuple[str, str]]:
    """Yield name and address of each catalogue of the map servers, as long as they run."""
    if absent := mapservers.missing():
        print(f"   not at hand: {absent}")
        return
    with mapservers.running(shared_folder()) as servers:
        csw = servers["pycsw"]["csw"]
        yield "CSW (pycsw)", csw
        yield "OAI-PMH (pycsw)", f"{csw}?mode=oaipmh&verb=Identify"
        yield "OGC API – Records (pygeoapi)", servers["pygeoapi"]["ogcapi"]
