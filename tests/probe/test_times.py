"""Times and scales of recorded services, read by eye from their documents."""

from __future__ import annotations

from itertools import repeat
from math import inf
from pathlib import Path

import pytest

from geocrawl.model import Kind, Layer
from geocrawl.probe.registry import probes
from geocrawl.wording import iso
from tests.probe.kinds import candidate_of
from tests.support.answers import page

TIMES = {
    ("wms/owslib_wms_JPLCapabilities.xml", "daily_planet"): ("2007-12-01T00:00:00Z", "2010-03-20T23:59:59Z", "P1D"),
    ("wms/mapproxy_capabilities_1_0_7.xml", "Pressure"): ("1999-01-01T00:00:00Z", "2000-08-22T23:59:59Z", "P1D"),
    ("wms/mapserver_wms_time_cap.xml", "pattern4"): ("2004-01-01T00:00:00Z", "2004-02-01T23:59:59Z", ""),
    ("wmts/mf-geoadmin3_wmts-basic.xml", "ch.are.alpenkonvention"): (
        "2009-01-01T00:00:00Z",
        "2009-01-01T23:59:59Z",
        "",
    ),
    ("wcs/mapserver_wcs_get_capabilities_indexlayers.xml", "a"): ("2020-01-01T00:00:00Z", "2020-01-02T23:59:59Z", ""),
    ("sos/owslib_sos_ndbc_getcapabilities.xml", "network-all"): ("2006-07-27T21:10:00Z", None, ""),
    ("stac/ogc-client_sentinel-2.json", "sentinel-2"): ("2015-06-27T00:00:00Z", None, ""),
    ("ogcapi/geotools_planetary_coll.json", "daymet-daily-hi"): ("1980-01-01T12:00:00Z", "2020-12-30T12:00:00Z", ""),
    ("arcgis/terriajs_time-enabled.json", ""): ("2004-11-26T09:43:22Z", "2019-11-03T14:00:00Z", ""),
}
"""Document and name of a layer, of the first one '' → first and last time, and step."""
SCALES = {
    ("wmts/openlayers_capabilities_with_tilematrixsetlimits.xml", "wide_at_low_zoom"): (
        3487723.2142857,
        13950892.85714,
    ),
    ("arcgis/terriajs_mapserver-5.json", ""): (1128.497176, 18055.954822),
    ("arcgis/terriajs_imageserver-2.json", "Some name"): (1128.497176, 4622324.434309),
    ("tms/terriajs_tilemapresource.xml", ""): (4367830.186942, 559082263.928572),
    ("ogcapi/ogc-client_NaturalEarth__raster.json", "NaturalEarth__raster"): (4367830.187724, inf),
}
"""Document and name of a layer, of the first one '' → least and greatest scale denominator."""


def layer_of(shared: Path, document: str, name: str) -> Layer:
    kind = Kind(document.partition("/")[0])
    probe = next(each for each in probes() if each.kind is kind)
    interview = probe.interview(candidate_of(kind))
    answer = page((shared / "corpus" / "documents" / document).read_bytes())
    next(interview)
    try:
        for each in repeat(answer, 4):
            interview.send(each)
    except StopIteration as end:
        layer: Layer = next(layer for layer in end.value.service.layers if layer.name == name or not name)
        return layer
    raise AssertionError(document)


@pytest.mark.shared
@pytest.mark.parametrize(("document", "name"), TIMES)
def test_the_times_of_a_layer_are_those_of_its_document(shared: Path, document: str, name: str) -> None:
    times = layer_of(shared, document, name).times
    assert times is not None
    assert (iso(times.start), iso(times.end), times.step) == TIMES[document, name]


@pytest.mark.shared
@pytest.mark.parametrize(("document", "name"), SCALES)
def test_the_scales_of_a_layer_are_those_of_its_levels(shared: Path, document: str, name: str) -> None:
    assert layer_of(shared, document, name).scales == pytest.approx(SCALES[document, name])
