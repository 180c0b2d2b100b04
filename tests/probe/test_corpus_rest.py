"""Recorded answers of ArcGIS, OGC APIs, STAC and TMS: each accepted as expected, nothing else accepted.

`tests/expectations/corpus_KIND.json` was made without geocrawl, by plain `json` and `xml.etree`: versions and titles as
they stand, items by counting members. Details of a few documents of each kind were looked up by eye and stand below.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geocrawl.model import Item, Kind, Service, Status
from geocrawl.ports import Probe
from geocrawl.probe.registry import probe_of
from tests.probe.json_answers import judge

pytestmark = pytest.mark.shared

EXPECTATIONS = Path(__file__).parents[1] / "expectations"
PROBES: dict[Kind, Probe] = {
    kind: probe_of(kind) for kind in (Kind.ARCGIS, Kind.OGCAPI, Kind.STAC, Kind.TMS, Kind.TILEJSON, Kind.WMSC)
}
COUNTS = {Kind.ARCGIS: 37, Kind.OGCAPI: 27, Kind.STAC: 37, Kind.TMS: 3}
ADDRESSES = {
    Kind.ARCGIS: "http://gis.example.org/arcgis/rest/services/A/B/MapServer",
    Kind.OGCAPI: "http://api.example.org/",
    Kind.STAC: "http://stac.example.org/catalog.json",
    Kind.TMS: "http://tiles.example.org/tms/1.0.0/map/",
    Kind.TILEJSON: "http://tiles.example.org/tiles.json",
    Kind.WMSC: "http://tiles.example.org/wms",
}
LABELS = sorted(
    [
        "arcgis",
        "broken",
        "csw",
        "exception",
        "ogcapi",
        "other",
        "sos",
        "stac",
        "tms",
        "wcs",
        "wfs",
        "wms",
        "wmts",
        "wps",
    ]
)


A_RECORD = "pycsw_woudc-total-column-ozone-totalozone.json"
"""Describes a data set, no service, though it is kept among the documents of OGC APIs."""


def documents(shared: Path, label: str) -> list[Path]:
    return sorted((shared / "corpus" / "documents" / label).iterdir())


def service_of(shared: Path, kind: Kind, name: str) -> Service:
    service = judge(PROBES[kind], shared / "corpus" / "documents" / kind / name, ADDRESSES[kind]).service
    assert service is not None
    return service


def facts(service: Service, names: list[str]) -> dict[str, object]:
    items = sum(1 for layer in service.layers if layer.name)
    found = {"title": service.title, "version": service.version, "items": items}
    return {name: found[name] for name in names}


@pytest.mark.parametrize("kind", COUNTS)
def test_every_document_is_accepted_as_expected(shared: Path, kind: Kind) -> None:
    expected = json.loads((EXPECTATIONS / f"corpus_{kind}.json").read_text(encoding="utf-8"))
    found = {}
    for file in documents(shared, kind):
        verdict = judge(PROBES[kind], file, ADDRESSES[kind])
        if file.name == A_RECORD:
            assert verdict.reason == "not-capabilities"
            continue
        assert verdict.status is Status.VALID, (file.name, verdict.reason, verdict.detail)
        assert verdict.service is not None
        assert verdict.service.kind is kind
        found[file.name] = facts(verdict.service, list(expected[file.name]))
    assert found == expected
    assert len(found) == COUNTS[kind]


@pytest.mark.parametrize("kind", PROBES)
def test_no_other_answer_is_accepted(shared: Path, kind: Kind) -> None:
    accepted = [
        f"{label}/{file.name}"
        for label in LABELS
        if label != kind
        for file in documents(shared, label)
        if judge(PROBES[kind], file, ADDRESSES[kind]).status is Status.VALID
    ]
    assert accepted == []


@pytest.mark.parametrize("kind", PROBES)
def test_every_exception_is_called_one(shared: Path, kind: Kind) -> None:
    reasons = {judge(PROBES[kind], file, ADDRESSES[kind]).reason for file in documents(shared, "exception")}
    assert reasons == {"exception"}


@pytest.mark.parametrize("kind", COUNTS)
def test_a_document_cut_in_the_middle_is_never_accepted(shared: Path, tmp_path: Path, kind: Kind) -> None:
    for file in documents(shared, kind):
        body = file.read_bytes()
        cut = tmp_path / file.name
        cut.write_bytes(body[: len(body) // 2])
        verdict = judge(PROBES[kind], cut, ADDRESSES[kind])
        assert (verdict.status, verdict.reason) == (Status.INVALID, "truncated"), file.name


# --------------------------------------------------------------------------- looked up by eye


def test_a_map_service_by_eye(shared: Path) -> None:
    service = service_of(shared, Kind.ARCGIS, "terriajs_mapserver.json")
    assert service.title == "Australia 250K Topographic Hydrography and Marine Layers"
    assert (service.provider, service.keywords[0]) == ("Geoscience Australia", "Drainage")
    root, first = service.layers[:2]
    assert (root.crs, first.name) == (("EPSG:4283",), "0")
    assert first.title == "No_Labels_National_Scale_to_300K_Scale"
    assert root.box is not None
    assert root.box.bounds == pytest.approx((100.14, -49.98, 169.16, -2.39), abs=0.01)


def test_a_feature_service_by_eye(shared: Path) -> None:
    service = service_of(shared, Kind.ARCGIS, "terriajs_CommunityAddressingFS.json")
    assert (service.title, service.formats) == ("Community Addressing", ("JSON",))
    assert {layer.item for layer in service.layers} == {Item.FEATURE_TYPE}
    assert service.layers[0].box is not None
    assert service.layers[0].box.bounds == pytest.approx((-88.2, 41.76, -88.1, 41.8), abs=0.01)


def test_collections_by_eye(shared: Path) -> None:
    service = service_of(shared, Kind.OGCAPI, "ogc-client_collections.json")
    site, reservoirs = service.layers
    assert (site.name, site.crs, site.formats[0]) == ("ADWR_GWSI_Sites", ("CRS:84",), "application/geo+json")
    assert (reservoirs.title, "OGC API EDR" in service.keywords) == ("US Army Corps of Engineers", True)
    assert site.box is not None
    assert site.box.bounds == (-170, 15, -51, 72)


def test_conformance_by_eye(shared: Path) -> None:
    service = service_of(shared, Kind.OGCAPI, "ogc-client_conformance-5.json")
    assert service.keywords == ("OGC API Features", "OGC API Tiles", "OGC API Records", "OGC API Styles")


def test_stac_collections_by_eye(shared: Path) -> None:
    service = service_of(shared, Kind.STAC, "pycsw_simple-collection.json")
    assert (service.provider, service.access_constraints) == ("Remote Data, Inc", "CC-BY-4.0")
    assert service.layers[0].box is not None
    assert service.layers[0].box.bounds == pytest.approx((172.911, 1.343, 172.955, 1.3691), abs=0.001)


def test_tile_maps_by_eye(shared: Path) -> None:
    service = service_of(shared, Kind.TMS, "ogc-client_tms-resource-geopf.xml")
    last = service.layers[-1]
    assert (last.name, last.title, last.crs, last.formats) == ("PLAN.IGN", "Plan IGN", ("EPSG:3857",), ("pbf",))
