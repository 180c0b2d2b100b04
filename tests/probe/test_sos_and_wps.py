"""SOS and WPS: what of offerings and processes is kept."""

from __future__ import annotations

from geocrawl.model import Item, Kind
from tests.probe.kinds import verdict_on

SOS = """<Capabilities version="{version}" xmlns="http://www.opengis.net/sos/1.0" xmlns:gml="http://www.opengis.net/gml"
 xmlns:ows="http://www.opengis.net/ows/1.1"><ows:ServiceIdentification><ows:Title>Gauges</ows:Title>
</ows:ServiceIdentification>
<Contents><ObservationOfferingList><ObservationOffering gml:id="levels"><gml:name>Levels</gml:name>
<gml:description>Water levels</gml:description><gml:boundedBy><gml:Envelope srsName="{srs}">
<gml:lowerCorner>{lower}</gml:lowerCorner>
<gml:upperCorner>{upper}</gml:upperCorner></gml:Envelope></gml:boundedBy><responseFormat>text/xml</responseFormat>
</ObservationOffering></ObservationOfferingList></Contents></Capabilities>"""
SOS_2 = """<sos:Capabilities version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
 xmlns:swes="http://www.opengis.net/swes/2.0"
 xmlns:gml="http://www.opengis.net/gml/3.2"><sos:contents><sos:Contents><swes:offering><sos:ObservationOffering>
<swes:identifier>levels</swes:identifier><swes:name>Levels</swes:name><sos:observedArea>
<gml:Envelope srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><gml:lowerCorner>50 10</gml:lowerCorner>
<gml:upperCorner>60 20</gml:upperCorner></gml:Envelope></sos:observedArea></sos:ObservationOffering></swes:offering>
</sos:Contents></sos:contents></sos:Capabilities>"""
WPS = """<wps:Capabilities version="{version}" xmlns:wps="http://www.opengis.net/wps/{version}"
 xmlns:ows="http://www.opengis.net/ows/1.1">
<ows:ServiceIdentification><ows:Title>Tools</ows:Title></ows:ServiceIdentification><wps:{list}>
<wps:{one} wps:processVersion="1">
<ows:Identifier>buffer</ows:Identifier><ows:Title>Buffer</ows:Title><ows:Abstract>Widens</ows:Abstract></wps:{one}>
</wps:{list}>
</wps:Capabilities>"""


def bounds(srs: str, lower: str, upper: str) -> tuple[tuple[float, ...] | None, tuple[str, ...]]:
    verdict = verdict_on(Kind.SOS, SOS.format(version="1.0.0", srs=srs, lower=lower, upper=upper))
    assert verdict.service is not None
    (offering,) = verdict.service.layers
    codes = tuple(each.code for each in verdict.deviations if each.code.startswith("box"))
    return (offering.box.bounds if offering.box is not None else None), codes


def test_an_offering_has_its_name_area_and_formats() -> None:
    verdict = verdict_on(Kind.SOS, SOS.format(version="1.0.0", srs="EPSG:4326", lower="10 50", upper="20 60"))
    assert verdict.service is not None
    assert (verdict.service.title, verdict.service.formats) == ("Gauges", ("text/xml",))
    (offering,) = verdict.service.layers
    assert (offering.name, offering.title, offering.abstract) == ("levels", "Levels", "Water levels")
    assert (offering.item, offering.crs) == (Item.OFFERING, ("EPSG:4326",))


def test_the_spelling_of_the_reference_system_says_which_axis_is_first() -> None:
    assert bounds("EPSG:4326", "10 50", "20 60") == ((10, 50, 20, 60), ())
    assert bounds("urn:ogc:def:crs:EPSG::4326", "50 10", "60 20") == ((10, 50, 20, 60), ())
    assert bounds("urn:ogc:def:crs:OGC:1.3:CRS84", "10 50", "20 60") == ((10, 50, 20, 60), ())


def test_latitudes_beyond_the_poles_are_longitudes() -> None:
    assert bounds("urn:ogc:crs:epsg:4326", "-141 42", "-52 84") == ((-141, 42, -52, 84), ("box-axis-order",))


def test_an_area_in_metres_is_unknown() -> None:
    assert bounds("urn:ogc:def:crs:EPSG::3857", "10 50", "20 60") == (None, ())


def test_version_2_has_its_sections_in_small_letters() -> None:
    service = verdict_on(Kind.SOS, SOS_2).service
    assert service is not None
    (offering,) = service.layers
    assert (offering.name, offering.title) == ("levels", "Levels")
    assert offering.box is not None
    assert offering.box.bounds == (10, 50, 20, 60)


def test_processes_of_both_versions_are_read() -> None:
    old = WPS.format(version="1.0.0", list="ProcessOfferings", one="Process")
    new = WPS.format(version="2.0", list="Contents", one="ProcessSummary")
    for body, version in ((old, "1.0.0"), (new, "2.0")):
        service = verdict_on(Kind.WPS, body).service
        assert service is not None
        assert (service.version, service.title) == (version, "Tools")
        (process,) = service.layers
        assert (process.name, process.title, process.abstract) == ("buffer", "Buffer", "Widens")
        assert process.item is Item.PROCESS
