"""Harvests: pycsw's records and the map servers they name; a CKAN and an ArcGIS folder replayed from recordings."""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.app.harvest import run_harvest
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from tests.support import mapservers
from tests.support.places import ROOT, shared_folder
from tests.support.processes import checked, clean_environment, geocrawl
from tests.support.recorded_web import Answers, environment

SERVERS = ("mapserver", "qgis", "mapproxy", "pygeoapi", "pycsw")
FOLDER = "sampleserver6.arcgisonline.com/arcgis/rest/services"
FOLDER_SERVICES = (
    "911CallsHotspotMS/MapServer",
    "CensusMS/MapServer",
    "CommercialDamageAssessmentMS/MapServer",
    "CommunityAddressingMS/MapServer",
    "CommercialDamageAssessmentFS/FeatureServer",
    "CommunityAddressingFS/FeatureServer",
)
"""Of the folder's services those whose own answers are recorded."""
CKAN = "data.gov.au/data/api/3/action/package_search"
PLACE = "data.gov.au/geoserver/murray-darling-basin-water-resource-plan-areas-surface-water"
SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, strategy="bfs")


def main(arguments: list[str]) -> None:
    """Harvest each, write c_harvest.json. SystemExit when a map server, or a service of a recording, is not found."""
    argparse.ArgumentParser(prog="python -m benchmarks.shows harvest", description=__doc__).parse_args(arguments)
    figures = {**_recorded(shared_folder()), **_served(shared_folder())}
    for name, row in figures.items():
        print(f"   {name}: {row['pages']} pages, {row['probes']} probed, valid {row['valid']}, missed {row['missed']}")
    print(machine.write("c_harvest", {"catalogues": figures}))
    if any(row["missed"] for row in figures.values()):
        raise SystemExit("a service that a catalogue names was not found")


# --------------------------------------------------------------------------- real servers


def _served(shared: Path) -> dict[str, Any]:
    if absent := mapservers.missing():
        raise SystemExit(f"not installed: {absent}; .ci/run installs them")
    with mapservers.running(shared, SERVERS) as servers:
        maps = {servers[name]["wms"] for name in ("mapserver", "qgis", "mapproxy")}
        csw, api = servers["pycsw"]["csw"], servers["pygeoapi"]["ogcapi"]
        return {
            "pycsw, CSW 2.0.2": _command(csw, maps),
            "pycsw, records of a day on": _command(csw, set(), "--since", "2024-02-07"),
            "pygeoapi, OGC API Records": _command(api, {servers["mapserver"]["wms"]}),
        }


def _command(url: str, wanted: set[str], *options: str) -> dict[str, Any]:
    """`geocrawl harvest URL` in a database of its own."""
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "c.db"
        line = geocrawl(
            "harvest", url, "--db", str(path), "--json", "--allow-private", "--delay", "0", "--quiet", *options
        )
        done = checked(line, env=clean_environment(Path(home)))
        return _figures(json.loads(done.stdout), path, wanted)


# --------------------------------------------------------------------------- recordings


def _recorded(shared: Path) -> dict[str, Any]:
    documents, tests = shared / "corpus" / "documents", ROOT / "tests" / "page" / "recorded"
    ckan = {
        CKAN: ("application/json", (tests / "ckan-search.json").read_bytes()),
        f"{PLACE}/wms": ("text/xml", (documents / "wms" / "ogc-client_capabilities-states-1-3-0.xml").read_bytes()),
        f"{PLACE}/wfs": ("text/xml", next((documents / "wfs").glob("ogc-client_*2-0*.xml")).read_bytes()),
    }
    folder = {
        f"{FOLDER}/{name}": documents / "arcgis" / f"terriajs_{name.partition('/')[0]}.json" for name in FOLDER_SERVICES
    }
    folder[FOLDER] = documents / "arcgis" / "terriajs_services.json"
    arcgis = {place: ("application/json", path.read_bytes()) for place, path in folder.items()}
    return {
        "data.gov.au, CKAN": _replay(ckan, f"https://{CKAN}?rows=1&start=0", {f"{PLACE}/wms", f"{PLACE}/wfs"}),
        "sampleserver6, ArcGIS folder": _replay(
            arcgis, f"https://{FOLDER}?f=json", {f"{FOLDER}/{name}" for name in FOLDER_SERVICES}
        ),
    }


def _replay(answers: dict[str, tuple[str, bytes]], url: str, wanted: set[str]) -> dict[str, Any]:
    catalogue = read_url(url)
    assert catalogue is not None, url
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "c.db"
        done = run_harvest(
            SETTINGS,
            path,
            catalogue,
            observer=LogObserver(log_to(quiet=True)),
            environment=environment(Answers(answers)),
        )
        return _figures(done.as_json(), path, {f"https://{place}" for place in wanted})


def _figures(done: dict[str, Any], path: Path, wanted: set[str]) -> dict[str, Any]:
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT url, kind FROM endpoint WHERE status = 'valid'").fetchall()
    return {
        **{key: done[key] for key in ("pages", "probes", "stopped", "seconds")},
        "valid": dict(sorted(Counter(kind for _, kind in rows).items())),
        "missed": sorted(wanted - {url for url, _ in rows}),
    }
