"""WCS: coverages of three generations of the standard."""

from __future__ import annotations

from geocrawl.model import Item, Kind
from tests.probe.kinds import verdict_on

WCS_1_0 = """<WCS_Capabilities version="1.0.0" xmlns="http://www.opengis.net/wcs" xmlns:gml="http://www.opengis.net/gml"
 xmlns:xlink="http://www.w3.org/1999/xlink"><Service><description>All heights</description><name>WCS</name>
<label>Heights</label><keywords><keyword>height</keyword></keywords><responsibleParty>
<individualName>Ada</individualName>
<organisationName>Survey</organisationName><contactInfo><address><city>Sveg</city></address>
<onlineResource xlink:href="http://survey.example.org/"/></contactInfo></responsibleParty><fees>none</fees>
<accessConstraints>CC BY</accessConstraints></Service><ContentMetadata><CoverageOfferingBrief><name>dem</name>
<label>Terrain</label><lonLatEnvelope srsName="urn:ogc:def:crs:OGC:1.3:CRS84"><gml:pos>10 50</gml:pos>
<gml:pos>20 60</gml:pos>
</lonLatEnvelope></CoverageOfferingBrief></ContentMetadata></WCS_Capabilities>"""

WCS_1_1 = """<Capabilities version="1.1.1" xmlns="http://www.opengis.net/wcs/1.1"
 xmlns:ows="http://www.opengis.net/ows/1.1">
<ows:ServiceIdentification><ows:Title>Heights</ows:Title></ows:ServiceIdentification><Contents>
<CoverageSummary><ows:Title>Sweden</ows:Title><SupportedCRS>urn:ogc:def:crs:EPSG::3006</SupportedCRS>
<CoverageSummary><ows:Title>Terrain</ows:Title><Identifier>dem</Identifier><SupportedFormat>image/tiff</SupportedFormat>
</CoverageSummary></CoverageSummary></Contents></Capabilities>"""

WCS_2_0 = """<wcs:Capabilities version="2.0.1" xmlns:wcs="http://www.opengis.net/wcs/2.0"
 xmlns:ows="http://www.opengis.net/ows/2.0"
 xmlns:crs="http://www.opengis.net/wcs/service-extension/crs/1.0"><ows:ServiceIdentification>
<ows:Title>Heights</ows:Title>
</ows:ServiceIdentification><wcs:ServiceMetadata><wcs:formatSupported>image/tiff</wcs:formatSupported><wcs:Extension>
<crs:CrsMetadata><crs:crsSupported>http://www.opengis.net/def/crs/EPSG/0/4326</crs:crsSupported>
<crs:crsSupported>http://www.opengis.net/def/crs/EPSG/0/3857</crs:crsSupported></crs:CrsMetadata></wcs:Extension>
</wcs:ServiceMetadata><wcs:Contents><wcs:CoverageSummary><wcs:CoverageId>dem</wcs:CoverageId>
<wcs:CoverageSubtype>RectifiedGridCoverage</wcs:CoverageSubtype></wcs:CoverageSummary></wcs:Contents>
</wcs:Capabilities>"""


def test_version_1_0_0_names_and_labels() -> None:
    service = verdict_on(Kind.WCS, WCS_1_0).service
    assert service is not None
    assert (service.title, service.abstract, service.provider) == ("Heights", "All heights", "Survey")
    assert (service.keywords, service.fees, service.access_constraints) == (("height",), "none", "CC BY")
    assert service.contact == {"person": "Ada", "organization": "Survey", "city": "Sveg"}
    assert service.online_resource == "http://survey.example.org/"
    (dem,) = service.layers
    assert (dem.name, dem.title, dem.item) == ("dem", "Terrain", Item.COVERAGE)
    assert dem.box is not None
    assert dem.box.bounds == (10, 50, 20, 60)


def test_version_1_1_has_groups_whose_reference_systems_hold_for_what_is_in_them() -> None:
    service = verdict_on(Kind.WCS, WCS_1_1).service
    assert service is not None
    group, dem = service.layers
    assert (group.name, group.title, group.crs, group.parent) == ("", "Sweden", ("EPSG:3006",), None)
    assert (dem.name, dem.parent, dem.crs, dem.formats) == ("dem", 0, (), ("image/tiff",))
    assert service.formats == ("image/tiff",)


def test_version_2_0_states_reference_systems_once_so_they_are_kept_once() -> None:
    service = verdict_on(Kind.WCS, WCS_2_0).service
    assert service is not None
    group, dem = service.layers
    assert (group.name, group.title, group.crs) == ("", "Heights", ("EPSG:4326", "EPSG:3857"))
    assert (dem.name, dem.parent, dem.crs, dem.box) == ("dem", 0, (), None)
    assert service.formats == ("image/tiff",)
