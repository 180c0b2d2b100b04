"""Recorded answers of real servers: every WMS accepted and read as expected, nothing else accepted.

`tests/expectations/corpus_wms.json` was made without geocrawl's reader: title, version and counts by expat and plain
counting of elements, for the three documents that expat refuses by their text, then compared with OWSLib's reading and
looked at by eye where the three disagreed.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from geocrawl.model import Layer, Service, Status, Verdict
from tests.probe.kinds import documents
from tests.support.answers import interview, page

EXPECTATIONS = Path(__file__).parents[1] / "expectations" / "corpus_wms.json"
WITHOUT_LAYERS = {f"mapserver_wms_empty_cap{version}.xml" for version in ("100", "110", "111", "130")}
"""Their text says `No WMS layers are enabled`: none is right."""
CONTACT = {
    "person": "name",
    "organization": "organization",
    "position": "position",
    "email": "email",
    "address": "address",
    "city": "city",
    "country": "country",
}
"""Our names of a contact's parts → OWSLib's."""
EQUAL_NAMES = {"terriajs_BOM.xml"}
"""Two layers of one name: OWSLib keeps one of them, we both."""
WOULD_BE_WMS = {
    "mapserver_ows_metadata_wms_capabilities111.xml": "http-headers",
    "mapserver_runtime_sub_test_caps.xml": "http-headers",
    "mapserver_wms_cap.xml": "http-headers",
    "owslib_wms_mesonet-caps-130_bom.xml": "false-bom",
}
OTHERS = ("arcgis", "csw", "exception", "ogcapi", "other", "sos", "stac", "tms", "wcs", "wfs", "wmts", "wps")

pytestmark = pytest.mark.shared


def verdict_of(file: Path) -> Verdict:
    return interview({"*": page(file.read_bytes())})[0]


def test_every_wms_is_accepted_with_its_title_and_layers(shared: Path) -> None:
    expected = json.loads(EXPECTATIONS.read_text(encoding="utf-8"))
    found = {}
    for file in documents(shared, "wms"):
        verdict = verdict_of(file)
        assert verdict.status is Status.VALID, (file.name, verdict.reason)
        assert verdict.service is not None
        found[file.name] = {
            "title": verdict.service.title,
            "version": verdict.service.version,
            "named_layers": sum(1 for layer in verdict.service.layers if layer.name),
            "layers": len(verdict.service.layers),
        }
    assert found == expected
    assert len(found) == 134
    assert {name for name, values in found.items() if not values["layers"]} == WITHOUT_LAYERS
    assert {name for name, values in found.items() if not values["named_layers"]} == WITHOUT_LAYERS


@pytest.mark.parametrize("label", OTHERS)
def test_no_other_answer_is_accepted(shared: Path, label: str) -> None:
    accepted = [file.name for file in documents(shared, label) if verdict_of(file).status is Status.VALID]
    assert accepted == []


def test_every_exception_is_called_one(shared: Path) -> None:
    assert {verdict_of(file).reason for file in documents(shared, "exception")} == {"exception"}


def test_of_the_broken_ones_only_would_be_wms_are_accepted_each_with_its_deviation(shared: Path) -> None:
    verdicts = {file.name: verdict_of(file) for file in documents(shared, "broken")}
    valid = {name: verdict for name, verdict in verdicts.items() if verdict.status is Status.VALID}
    assert {name: verdict.deviations[0].code for name, verdict in valid.items()} == WOULD_BE_WMS


# --------------------------------------------------------------------------- against OWSLib


def inherited(service: Service, layer: Layer) -> list[Layer]:
    """A layer and the groups above it, nearest first."""
    line = [layer]
    while layer.parent is not None:
        layer = service.layers[layer.parent]
        line.append(layer)
    return line


def owslib_of(file: Path, version: str) -> Any:
    """OWSLib's reading of a whole document; None where it raises or has no reader."""
    from owslib.wms import WebMapService

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return WebMapService("http://x/", version="1.3.0" if version == "1.3.0" else "1.1.1", xml=file.read_bytes())
        except Exception:  # what it raises is not the question here
            return None


def stated(found: Any) -> dict[str, object]:
    """What OWSLib reads of the service as a whole, where it reads anything."""
    identification, contact = found.identification, found.provider.contact
    get_map = next((op for op in found.operations if op.name == "GetMap"), None)
    values = {
        "title": line(identification.title),
        "abstract": (identification.abstract or "").strip(),
        "keywords": lines(identification.keywords),
        "fees": line(identification.fees),
        "access_constraints": line(identification.accessconstraints),
        "formats": lines(get_map.formatOptions if get_map else ()),
        **{key: line(getattr(contact, name, None)) for key, name in CONTACT.items()},
    }
    return {name: value for name, value in values.items() if value}


def kept_of(service: Service) -> dict[str, object]:
    """What we read of the same."""
    names = ("title", "abstract", "keywords", "fees", "access_constraints", "formats")
    return {**{name: getattr(service, name) for name in names}, **service.contact}


def line(text: str | None) -> str:
    return " ".join((text or "").split())[:1_000]


def lines(texts: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(line, texts))))


def compare(file: Path, service: Service, found: Any) -> None:
    ours = {layer.name: layer for layer in service.layers if layer.name}
    assert stated(found) == {name: value for name, value in kept_of(service).items() if name in stated(found)}, (
        file.name
    )
    assert set(found.contents) == set(ours), file.name
    for name, layer in ours.items():
        theirs = found.contents[name]
        line = inherited(service, layer)
        where = (file.name, name)
        assert " ".join((theirs.title or "").split()) == layer.title, where
        assert set(theirs.crsOptions) == {code for each in line for code in each.crs}, where
        box = next((each.box for each in line if each.box is not None), None)
        if box is not None and theirs.boundingBoxWGS84 and within_the_world(theirs.boundingBoxWGS84):
            assert box.bounds == pytest.approx(theirs.boundingBoxWGS84, abs=1e-5), where


def within_the_world(box: tuple[float, float, float, float]) -> bool:
    """Whether a box needs no mending: OWSLib gives any as it is written."""
    west, south, east, north = box
    return -180 <= west < east <= 180 and -90 <= south < north <= 90


def test_where_owslib_reads_a_whole_document_both_readers_agree(shared: Path) -> None:
    """On the service as a whole, named layers, reference systems and boxes, inheritance applied."""
    silent = []
    for file in documents(shared, "wms"):
        service = verdict_of(file).service
        assert service is not None
        found = owslib_of(file, service.version)
        if found is None:
            silent.append(file.name)
        elif file.name not in EQUAL_NAMES:
            compare(file, service, found)
    assert len(silent) == 14
