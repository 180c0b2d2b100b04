"""WFS: which versions are asked, and what of a feature type is kept."""

from __future__ import annotations

from geocrawl.model import Item, Kind, Status
from tests.probe.kinds import interview, verdict_on
from tests.support.answers import EXCEPTION, HTML, page

WFS_1_0 = """<WFS_Capabilities version="1.0.0" xmlns="http://www.opengis.net/wfs"><Service><Name>WFS</Name>
<Title>Roads</Title><Abstract>All roads</Abstract><Keywords>roads, paths ,,bridges</Keywords>
<OnlineResource>http://maps.example.org/wfs?</OnlineResource><Fees>none</Fees>
<AccessConstraints>CC BY</AccessConstraints>
</Service><Capability><Request><GetFeature><ResultFormat><GML2/><SHAPE-ZIP/></ResultFormat></GetFeature></Request>
</Capability><FeatureTypeList><Operations><Query/></Operations><FeatureType><Name>road</Name><Title>Major roads</Title>
<Abstract>Main</Abstract><Keywords>major</Keywords><SRS>EPSG:3006</SRS>
<LatLongBoundingBox minx="10" miny="50" maxx="20" maxy="60"/></FeatureType></FeatureTypeList></WFS_Capabilities>"""

WFS_2_0 = """<?xml version="1.0"?><wfs:WFS_Capabilities version="2.0.0" xmlns:wfs="http://www.opengis.net/wfs/2.0"
 xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink">
<ows:ServiceIdentification><ows:Title/><ows:Title xml:lang="en">Roads of Härjedalen</ows:Title>
<ows:Abstract>All roads</ows:Abstract><ows:Keywords><ows:Keyword>roads</ows:Keyword></ows:Keywords>
<ows:Keywords><ows:Keyword>infoMapAccessService</ows:Keyword></ows:Keywords>
<ows:Fees>none</ows:Fees><ows:AccessConstraints>CC BY</ows:AccessConstraints>
<ows:AccessConstraints>no resale</ows:AccessConstraints>
</ows:ServiceIdentification><ows:ServiceProvider><ows:ProviderName>Road Office</ows:ProviderName>
<ows:ProviderSite xlink:href="http://roads.example.org/"/><ows:ServiceContact>
<ows:IndividualName>Ada</ows:IndividualName>
<ows:PositionName>ProbeVisitor</ows:PositionName><ows:ContactInfo><ows:Phone><ows:Voice>123</ows:Voice></ows:Phone>
<ows:Address><ows:City>Sveg</ows:City><ows:Country>Sweden</ows:Country>
<ows:ElectronicMailAddress>ada@example.org</ows:ElectronicMailAddress></ows:Address></ows:ContactInfo>
</ows:ServiceContact>
</ows:ServiceProvider><ows:OperationsMetadata><ows:Operation name="GetFeature"><ows:Parameter name="outputFormat">
<ows:AllowedValues><ows:Value>application/gml+xml; version=3.2</ows:Value><ows:Value>application/json</ows:Value>
</ows:AllowedValues></ows:Parameter></ows:Operation></ows:OperationsMetadata>
<wfs:FeatureTypeList><wfs:FeatureType><wfs:Name>r:road</wfs:Name><wfs:Title>Major roads</wfs:Title>
<ows:Keywords><ows:Keyword>major</ows:Keyword></ows:Keywords><wfs:DefaultCRS>urn:ogc:def:crs:EPSG::3006</wfs:DefaultCRS>
<wfs:OtherCRS>http://www.opengis.net/def/crs/EPSG/0/4326</wfs:OtherCRS>
<wfs:OtherCRS>urn:ogc:def:crs:EPSG::3006</wfs:OtherCRS>
<wfs:OutputFormats><wfs:Format>text/csv</wfs:Format></wfs:OutputFormats>
<ows:WGS84BoundingBox><ows:LowerCorner>10 50</ows:LowerCorner><ows:UpperCorner>20 60</ows:UpperCorner>
</ows:WGS84BoundingBox>
</wfs:FeatureType></wfs:FeatureTypeList></wfs:WFS_Capabilities>"""


def test_the_servers_own_highest_version_is_asked_for_first() -> None:
    verdict, asked = interview(Kind.WFS, {"": page(WFS_2_0)})
    assert (verdict.status, asked, verdict.deviations) == (Status.VALID, [""], ())


def test_a_server_that_needs_a_version_is_asked_with_one() -> None:
    answers = {
        "": page(EXCEPTION.format("VERSION is missing")),
        "2.0.0": page(EXCEPTION.format("2.0.0 is not known"), status=400),
        "1.1.0": page(WFS_1_0),
    }
    verdict, asked = interview(Kind.WFS, answers)
    assert (verdict.status, asked) == (Status.VALID, ["", "2.0.0", "1.1.0"])
    assert verdict.service is not None
    assert verdict.service.version == "1.0.0"


def test_what_a_version_does_not_change_is_asked_twice() -> None:
    assert interview(Kind.WFS, {"*": page(EXCEPTION.format("no data"))})[1] == ["", "2.0.0"]
    assert interview(Kind.WFS, {"*": page(HTML, content_type="text/html")}, weak=True)[1] == [""]


def test_version_1_0_0_has_a_service_section_as_wms_has() -> None:
    service = verdict_on(Kind.WFS, WFS_1_0).service
    assert service is not None
    assert (service.title, service.abstract, service.version) == ("Roads", "All roads", "1.0.0")
    assert service.keywords == ("roads", "paths", "bridges")
    assert (service.fees, service.access_constraints) == ("none", "CC BY")
    assert (service.online_resource, service.formats) == ("http://maps.example.org/wfs?", ("GML2", "SHAPE-ZIP"))
    (road,) = service.layers
    assert (road.name, road.title, road.abstract, road.item) == ("road", "Major roads", "Main", Item.FEATURE_TYPE)
    assert (road.crs, road.keywords) == (("EPSG:3006",), ("major",))
    assert road.box is not None
    assert road.box.bounds == (10, 50, 20, 60)


def test_version_2_0_is_of_ows_common() -> None:
    service = verdict_on(Kind.WFS, WFS_2_0).service
    assert service is not None
    assert (service.kind, service.version, service.title) == (Kind.WFS, "2.0.0", "Roads of Härjedalen")
    assert service.keywords == ("roads", "infoMapAccessService")
    assert (service.provider, service.online_resource) == ("Road Office", "http://roads.example.org/")
    assert (service.fees, service.access_constraints) == ("none", "CC BY; no resale")
    assert service.contact == {
        "organization": "Road Office",
        "person": "Ada",
        "position": "ProbeVisitor",
        "email": "ada@example.org",
        "phone": "123",
        "city": "Sveg",
        "country": "Sweden",
    }
    assert service.formats == ("application/gml+xml; version=3.2", "application/json")
    (road,) = service.layers
    assert (road.name, road.crs, road.formats) == ("r:road", ("EPSG:3006", "EPSG:4326"), ("text/csv",))
    assert road.box is not None
    assert road.box.bounds == (10, 50, 20, 60)


def test_one_service_at_two_addresses_has_one_fingerprint() -> None:
    one, moved = verdict_on(Kind.WFS, WFS_2_0), verdict_on(Kind.WFS, WFS_2_0.replace("roads.example", "www.example"))
    changed = verdict_on(Kind.WFS, WFS_2_0.replace("Major roads", "Rivers"))
    assert one.service is not None
    assert moved.service is not None
    assert changed.service is not None
    assert one.service.fingerprint == moved.service.fingerprint != changed.service.fingerprint


def test_the_wfs_of_an_address_that_was_asked_as_wms_is_a_lead() -> None:
    verdict = verdict_on(Kind.WMS, WFS_2_0)
    assert (verdict.status, verdict.reason) == (Status.INVALID, "other-kind")
    (lead,) = verdict.leads
    assert (lead.endpoint.kind, lead.endpoint.url.address) == (Kind.WFS, "http://maps.example.org/service")
    assert (lead.evidence.signal, lead.weak) == ("answer", False)


def test_a_root_without_a_section_or_a_namespace_is_no_service() -> None:
    assert verdict_on(Kind.WFS, '<WFS_Capabilities version="1.0.0"/>').reason == "not-capabilities"
    assert verdict_on(Kind.WFS, "<WFS_Capabilities><Service/></WFS_Capabilities>").status is Status.VALID


def test_a_section_that_is_missing_is_noted() -> None:
    body = WFS_1_0.replace("FeatureTypeList>", "Other>")
    verdict = verdict_on(Kind.WFS, body)
    assert verdict.status is Status.VALID
    assert [(each.code, each.detail) for each in verdict.deviations] == [
        ("no-declaration", "no XML declaration"),
        ("section-missing", "no FeatureTypeList"),
    ]
