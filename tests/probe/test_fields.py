"""The fields of features are read from what a service says of them, by one request after content came."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from geocrawl.model import ContentReport, Failure, FailureCode, Field, Item, Kind, Layer, Page, Service
from geocrawl.ports import ContentCheck
from geocrawl.probe.fields import read_esri_layers, read_queryables, read_schema
from geocrawl.probe.registry import content_checks
from geocrawl.urls import query_parameters
from tests.probe.content_runs import run
from tests.support.answers import page, url

GEOSERVER = b"""<?xml version="1.0"?><xsd:schema xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:r="http://r.example"
 xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="http://r.example">
<xsd:import namespace="http://www.opengis.net/gml/3.2" schemaLocation="http://r.example/gml.xsd"/>
<xsd:complexType name="riversType"><xsd:complexContent><xsd:extension base="gml:AbstractFeatureType"><xsd:sequence>
<xsd:element maxOccurs="1" name="the_geom" nillable="true" type="gml:MultiLineStringPropertyType"/>
<xsd:element name="river_id" type="xsd:string"><xsd:annotation>
<xsd:documentation>Number of the river</xsd:documentation>
</xsd:annotation></xsd:element><xsd:element name="LENGTH" type="xsd:double"/><xsd:element ref="gml:name"/>
</xsd:sequence></xsd:extension></xsd:complexContent></xsd:complexType>
<xsd:element name="rivers" substitutionGroup="gml:AbstractFeature" type="r:riversType"/>
<xsd:element name="lakes"><xsd:complexType><xsd:sequence><xsd:element name="kind"><xsd:simpleType>
<xsd:restriction base="xsd:int"/></xsd:simpleType></xsd:element></xsd:sequence></xsd:complexType></xsd:element>
</xsd:schema>"""
RIVERS = (
    Field("the_geom", "multilinestring"),
    Field("river_id", "string", "Number of the river"),
    Field("LENGTH", "double"),
    Field("name"),
)
ESRI = {
    "layers": [
        {"id": 0, "name": "A group"},
        {
            "id": 1,
            "fields": [
                {"name": "OBJECTID", "type": "esriFieldTypeOID", "alias": "ObjectID"},
                {"name": "RIVER_ID", "type": "esriFieldTypeString", "alias": "Gewässerkennzahl"},
            ],
        },
    ],
    "tables": [{"id": 2, "fields": [{"name": "year", "type": "esriFieldTypeInteger"}, {"alias": "no name"}, 7]}],
}
OF_ESRI = {
    "1": (Field("OBJECTID", "oid"), Field("RIVER_ID", "string", "Gewässerkennzahl")),
    "2": (Field("year", "integer"),),
}
QUERYABLES = {
    "type": "object",
    "properties": {
        "geom": {"$ref": "https://geojson.org/schema/LineString.json"},
        "river_id": {"title": "River", "type": "string"},
        "seen": {"type": "string", "format": "date-time"},
    },
}
OF_QUERYABLES = {
    "rivers": (Field("geom", "geometry"), Field("river_id", "string", "River"), Field("seen", "date-time"))
}
FEATURES = json.dumps({"type": "FeatureCollection", "features": [{"type": "Feature"}]}).encode()


def test_a_schema_has_the_elements_of_a_type_but_not_those_of_its_base() -> None:
    found = read_schema(("r:rivers", "r:lakes", "r:unknown"), page(GEOSERVER))
    assert found == {"r:rivers": RIVERS, "r:lakes": (Field("kind", "int"),)}


def test_layers_of_arcgis_have_fields_with_aliases() -> None:
    assert read_esri_layers(page(json.dumps(ESRI).encode())) == OF_ESRI


def test_queryables_are_fields_with_their_formats() -> None:
    assert read_queryables("rivers", page(json.dumps(QUERYABLES).encode())) == OF_QUERYABLES


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><p>Not found",
        b'{"error": {"code": 404}}',
        b"[1, 2]",
        b'{"properties": [], "layers": {"a": 1}, "tables": null}',
        b'<schema><element name="rivers" type="riversType"/><complexType/></schema>',
        b'<ExceptionReport version="2.0.0"/>',
        b'{"properties": {"": {}}, "layers": [{"id": 1, "fields": "none"}]}',
    ],
)
def test_other_answers_have_no_fields(body: bytes) -> None:
    assert read_schema(("rivers",), page(body)) == {}
    assert read_esri_layers(page(body)) == {}
    assert read_queryables("rivers", page(body)) == {}


def test_what_is_kept_of_fields_is_bounded() -> None:
    many = {"layers": [{"id": 1, "fields": [{"name": f"f{n}" + "x" * 500, "type": "y" * 500} for n in range(5_000)]}]}
    (fields,) = read_esri_layers(page(json.dumps(many).encode())).values()
    assert len(fields) == 300 and max(len(text) for field in fields for text in field) == 100


def check_of(kind: Kind) -> ContentCheck:
    return next(each for each in content_checks(layers=3) if each.kind is kind)


def asked(
    kind: Kind, address: str, layer: Layer, answers: Callable[[str], bytes | None]
) -> tuple[ContentReport, list[str]]:
    """Return the report of a content check, and the addresses that it asked; None is a failure."""

    def reply(ask: object) -> Page | Failure:
        place = ask.url.address  # type: ignore[attr-defined]
        body = answers(place)
        return Failure(url(place), FailureCode.TIMEOUT_READ, "") if body is None else page(body)

    version = "2.0.0" if kind is Kind.WFS else ""
    return run(check_of(kind), address, Service(kind, version, "Rivers", layers=(layer,)), reply)


@pytest.mark.parametrize(
    ("kind", "address", "layer", "where", "answer", "found"),
    [
        (
            *(Kind.WFS, "http://a.example/wfs?map=x", Layer("r:rivers", "", item=Item.FEATURE_TYPE)),
            "http://a.example/wfs?map=x&SERVICE=WFS&VERSION=2.0.0&REQUEST=DescribeFeatureType&TYPENAMES=r:rivers",
            *(GEOSERVER, {"r:rivers": RIVERS}),
        ),
        (
            *(Kind.ARCGIS, "http://a.example/rest/services/R/FeatureServer", Layer("1", "", item=Item.FEATURE_TYPE)),
            "http://a.example/rest/services/R/FeatureServer/layers?f=json",
            *(json.dumps(ESRI).encode(), OF_ESRI),
        ),
        (
            *(Kind.OGCAPI, "http://a.example/api", Layer("rivers", "", item=Item.COLLECTION)),
            "http://a.example/api/collections/rivers/queryables?f=json",
            *(json.dumps(QUERYABLES).encode(), OF_QUERYABLES),
        ),
    ],
)
def test_one_request_more_asks_for_fields_where_content_came(
    kind: Kind, address: str, layer: Layer, where: str, answer: bytes, found: dict[str, tuple[Field, ...]]
) -> None:
    content, places = asked(kind, address, layer, lambda place: answer if place == where else FEATURES)
    assert (len(places), places[-1], content.fields) == (2, where, found)
    content, places = asked(kind, address, layer, lambda place: None if place == where else FEATURES)
    assert (len(places), content.fields, content.level) == (2, {}, "delivers")
    content, places = asked(kind, address, layer, lambda place: None)
    assert where not in places and content.fields == {}


def test_the_types_that_are_asked_for_have_the_prefix_of_the_feature_that_came() -> None:
    layers = tuple(Layer(f"{'ab'[n % 2]}:{n}", "", item=Item.FEATURE_TYPE) for n in range(200))
    service = Service(Kind.WFS, "1.1.0", "Rivers", layers=layers)
    _, places = run(check_of(Kind.WFS), "http://a.example/wfs", service, lambda ask: page(FEATURES))
    names = dict(query_parameters(url(places[-1])))["TYPENAME"].split(",")
    assert names[0] == "a:0" and len(names) <= 25 and {name[0] for name in names} == {"a"}
