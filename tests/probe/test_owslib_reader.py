"""OWSLib and our reader read the same of every recorded document; where OWSLib raises, ours reads it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from geocrawl.formats.elements import attribute
from geocrawl.formats.xml_reader import read_xml
from geocrawl.model import Kind, Service
from geocrawl.probe.ows.description import read_ows_service, read_service, read_wms_service
from geocrawl.probe.ows.owslib_reader import read_by_owslib
from geocrawl.probe.roots import kind_of_root

DIFFER = {"geotools_1_1_0CapabilitiesInvalid.xml"}
"""OWSLib reads an OnlineResource that we leave out."""
NOT_READ = {"wms": 5, "wcs": 5, "csw": 2, "wmts": 2}
"""Documents on which OWSLib raises: WMS 1.0.x, and those without any section about the service."""
OWS = frozenset({Kind.WMS, Kind.WFS, Kind.WCS, Kind.WMTS, Kind.CSW, Kind.WPS, Kind.SOS})


def by_ourselves(root: etree._Element, kind: Kind, version: str) -> Service:
    return read_wms_service(root, version) if kind is Kind.WMS else read_ows_service(root, kind, version)


@pytest.mark.shared
def test_both_readers_agree_on_every_recorded_document(shared: Path) -> None:
    read, raised = Counter[str](), Counter[str]()
    for file in sorted((shared / "corpus" / "documents").rglob("*.xml")):
        root = read_xml(file.read_bytes(), "").root
        kind = kind_of_root(root) if root is not None else None
        if root is None or kind not in OWS:
            continue
        version = attribute(root, "version").strip()
        own = by_ourselves(root, kind, version)
        try:
            found = read_by_owslib(root, kind, version)
        except (AttributeError, LookupError):
            raised[kind.value] += 1
            assert read_service(root, kind, version) == own
            continue
        read[kind.value] += 1
        if file.name not in DIFFER:
            assert replace(found, formats=own.formats, read_by=own.read_by) == own, file.name
    assert raised == NOT_READ
    assert read.total() > 300


def test_a_title_in_a_second_language_is_read_when_the_first_is_empty() -> None:
    root = etree.fromstring(
        '<Capabilities xmlns:o="http://www.opengis.net/ows/1.1" version="1.0.0"><o:ServiceIdentification>'
        "<o:Title/><o:Title>Roads</o:Title></o:ServiceIdentification></Capabilities>"
    )
    service = read_service(root, Kind.WMTS, "1.0.0")
    assert (service.title, service.read_by) == ("Roads", "owslib")


def test_nobody_hears_what_owslib_lacks(capfd: pytest.CaptureFixture[str]) -> None:
    root = etree.fromstring("<WFS_Capabilities version='1.0.0'><Service><Title>a</Title></Service></WFS_Capabilities>")
    assert read_service(root, Kind.WFS, "1.0.0").read_by == "owslib"
    assert capfd.readouterr() == ("", "")
