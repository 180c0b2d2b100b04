"""Which kind a capabilities document is of, by its root alone."""

from __future__ import annotations

import pytest
from lxml import etree

from geocrawl.model import Kind
from geocrawl.probe.registry import kind_of_json, kind_of_root
from tests.probe.kinds import verdict_on
from tests.probe.test_wmts import WMTS

OGC = "http://www.opengis.net"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<WMS_Capabilities/>", Kind.WMS),
        ("<WMT_MS_Capabilities/>", Kind.WMS),
        ("<wfs_capabilities/>", Kind.WFS),
        (f'<WFS_Capabilities xmlns="{OGC}/wfs/2.0"/>', Kind.WFS),
        (f'<Capabilities xmlns="{OGC}/wcs/1.1.1"/>', Kind.WCS),
        (f'<Capabilities xmlns="{OGC}/wmts/1.0"/>', Kind.WMTS),
        (f'<c:Capabilities xmlns:c="{OGC}/cat/csw/3.0"/>', Kind.CSW),
        ('<Capabilities xmlns="http://www.opengeospatial.net/wps"/>', Kind.WPS),
        (f'<Capabilities xmlns="{OGC}/SOS/2.0"/>', Kind.SOS),
        ("<Capabilities><ProcessOfferings/></Capabilities>", Kind.WPS),
        ("<Capabilities><Contents><TileMatrixSet/></Contents></Capabilities>", Kind.WMTS),
        (
            '<Capabilities><OperationsMetadata><Operation name="GetRecords"/></OperationsMetadata></Capabilities>',
            Kind.CSW,
        ),
        (f'<Capabilities xmlns="{OGC}/sps/2.0"/>', Kind.SPS),
        (f'<Capabilities xmlns="{OGC}/ows/1.1"/>', None),
        (f'<Capabilities xmlns="{OGC}/wfsx"/>', None),
        ("<Capabilities/>", None),
        ("<Filter_Capabilities/>", None),
        (f'<GetCapabilities xmlns="{OGC}/wfs" service="WFS"/>', None),
        ("<rss/>", None),
    ],
)
def test_a_root_is_of_one_kind_or_none(body: str, kind: Kind | None) -> None:
    assert kind_of_root(etree.fromstring(body)) is kind


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (' xmlns="http://www.opengis.net/wmts/1.0"', "", "namespace-missing"),
        ("www.opengis.net/wmts", "www.opengis.net/WMTS", "namespace-wrong"),
        ("http://www.opengis.net/wmts", "https://www.opengis.net/wmts", "namespace-wrong"),
        ("Capabilities", "CAPABILITIES", "root-case"),
    ],
)
def test_a_root_that_departs_from_its_standard_is_read_and_noted(old: str, new: str, code: str) -> None:
    verdict = verdict_on(Kind.WMTS, WMTS.replace(old, new))
    assert verdict.service is not None
    assert len(verdict.service.layers) == 2
    assert [each.code for each in verdict.deviations] == [code]


def test_a_brace_in_a_namespace_makes_nothing_fail() -> None:
    for body in (
        '<Capabilities version="1" xmlns="}x"/>',
        '<WMS_Capabilities xmlns="a}b"><Service/><Capability/></WMS_Capabilities>',
    ):
        assert {verdict_on(kind, body).reason for kind in (Kind.WMS, Kind.WFS, Kind.WMTS)} <= {"ok", "other-kind"}


def test_a_schema_of_a_document_is_no_document() -> None:
    described = {"tilejson": "2.2.0", "tiles": ["http://a.example/{z}/{x}/{y}.png"], "properties": {}}
    assert kind_of_json(described) is Kind.TILEJSON
    assert kind_of_json({"$schema": "http://json-schema.org/draft-07/schema#", **described}) is None
