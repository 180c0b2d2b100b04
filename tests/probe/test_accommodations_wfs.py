"""WFS on loopback, each particular in one thing that GIS clients accommodate (docs/services.md)."""

from __future__ import annotations

from functools import partial

import pytest

from geocrawl.model import Kind, Level
from tests.probe import particular_servers
from tests.probe.particular_servers import Reply, Request, delivers

probed = partial(particular_servers.probed, Kind.WFS)
FEATURES = Reply(b"<FeatureCollection><featureMember><a/></featureMember></FeatureCollection>", "text/xml")
NOT_FOUND = Reply(b"not found", "text/html", 404)


def capabilities(
    get: str = "{base}/wfs?", version: str = "2.0.0", formats: tuple[str, ...] = (), name: str = "<wfs:Name>road"
) -> str:
    """A document with one feature type; `get`: the address of GetFeature; `name`: the begin of the name's element."""
    parameter = "".join(f"<ows:Value>{name}</ows:Value>" for name in formats)
    return f"""<wfs:WFS_Capabilities version="{version}" xmlns:wfs="http://www.opengis.net/wfs/2.0"
 xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink">
<ows:OperationsMetadata><ows:Operation name="GetFeature"><ows:DCP><ows:HTTP><ows:Get xlink:href="{get}"/></ows:HTTP>
</ows:DCP><ows:Parameter name="outputFormat"><ows:AllowedValues>{parameter}</ows:AllowedValues></ows:Parameter>
</ows:Operation></ows:OperationsMetadata><wfs:FeatureTypeList><wfs:FeatureType>{name}</wfs:Name>
<wfs:Title>Roads</wfs:Title></wfs:FeatureType></wfs:FeatureTypeList></wfs:WFS_Capabilities>"""


OLDEST = """<WFS_Capabilities version="1.0.0" xmlns="http://www.opengis.net/wfs"><Service><Title>Roads</Title></Service>
<Capability><Request><GetFeature><ResultFormat><GML2/></ResultFormat><DCPType><HTTP>
<Get onlineResource="{base}/cgi?map=a&amp;"/></HTTP></DCPType></GetFeature></Request></Capability>
<FeatureTypeList><FeatureType><Name>road</Name></FeatureType></FeatureTypeList></WFS_Capabilities>"""


def exception(text: str = "no", locator: str = "") -> Reply:
    body = f"""<ExceptionReport><Exception exceptionCode="InvalidParameterValue" locator="{locator}">
<ExceptionText>{text}</ExceptionText></Exception></ExceptionReport>"""
    return Reply(body.encode(), "text/xml", 400)


def test_an_ordinary_server_is_asked_once() -> None:
    report, asked = probed(capabilities(), lambda request: FEATURES)
    assert (delivers(report), len(asked)) == (True, 1)


def test_a_feature_is_requested_at_the_address_of_get_feature() -> None:
    def answer(request: Request) -> Reply:
        return FEATURES if request.path == "/features" else NOT_FOUND

    report, asked = probed(capabilities("{base}/features"), answer)
    assert (delivers(report), len(asked)) == (True, 1)


def test_a_feature_is_requested_on_another_host_where_the_endpoint_has_none() -> None:
    def answer(request: Request) -> Reply:
        return FEATURES if request.path == "/features" else NOT_FOUND

    assert delivers(probed(capabilities("{other}/features"), answer)[0])


def test_the_address_in_a_document_of_1_0_0_counts_with_its_parameters() -> None:
    def answer(request: Request) -> Reply:
        return FEATURES if (request.path, request.get("MAP")) == ("/cgi", "a") else NOT_FOUND

    report, asked = probed(OLDEST, answer)
    assert (delivers(report), len(asked)) == (True, 1)


@pytest.mark.parametrize("refusal", [NOT_FOUND, exception(), Reply(b"<html/>", "text/html")])
def test_the_first_address_is_asked_where_the_given_one_is_dead(refusal: Reply) -> None:
    report, _ = probed(capabilities("{base}/gone"), lambda request: FEATURES if request.path == "/wfs" else refusal)
    assert delivers(report)


def test_names_of_older_parameters_are_sent_where_those_of_2_0_are_refused() -> None:
    report, asked = probed(capabilities(), lambda request: FEATURES if request.get("TYPENAME") else exception())
    assert (delivers(report), len(asked), asked[-1].get("TYPENAMES")) == (True, 2, "road")


def test_an_older_version_is_requested_where_the_stated_one_is_refused() -> None:
    def answer(request: Request) -> Reply:
        return FEATURES if request.get("VERSION") == "1.1.0" else exception()

    assert delivers(probed(capabilities(), answer)[0])


@pytest.mark.parametrize(
    ("version", "parameter", "binding"),
    [
        ("2.0.0", "NAMESPACES", "xmlns(app,http://example.org/app)"),
        ("1.1.0", "NAMESPACE", "xmlns(app=http://example.org/app)"),
    ],
)
def test_the_namespace_of_a_prefix_is_sent_where_a_type_is_not_known(
    version: str, parameter: str, binding: str
) -> None:
    def answer(request: Request) -> Reply:
        is_known = (request.get("VERSION"), request.get(parameter)) == (version, binding)
        return FEATURES if is_known else exception("Feature type with name 'app:road' is not served by this WFS")

    name = '<wfs:Name xmlns:app="http://example.org/app">app:road'
    report, asked = probed(capabilities(version=version, name=name), answer)
    assert (delivers(report), len(asked)) == (True, 3)


def test_no_namespace_is_sent_where_it_is_unknown_or_something_else_is_refused() -> None:
    for name, text in (
        ("<wfs:Name>app:road", "unknown type name"),
        ('<wfs:Name xmlns:app="http://example.org">app:a', "no"),
    ):
        _, asked = probed(capabilities(name=name), lambda request, text=text: exception(text))  # type: ignore[misc]
        assert not any(each.get("NAMESPACES") or each.get("NAMESPACE") for each in asked)


@pytest.mark.parametrize("refusal", [exception("no", "outputFormat"), Reply(b"PK\3\4", "application/zip")])
def test_a_stated_format_is_requested_where_the_default_cannot_be_read(refusal: Reply) -> None:
    document = capabilities(formats=("SHAPE-ZIP", "application/gml+xml; version=3.2"))
    report, asked = probed(document, lambda request: FEATURES if "gml" in request.get("OUTPUTFORMAT") else refusal)
    assert (delivers(report), len(asked)) == (True, 2)


def test_names_are_sent_in_lower_case_where_no_others_are_known() -> None:
    report, asked = probed(capabilities(), lambda request: FEATURES, lower_case_only=True)
    assert (delivers(report), "typenames" in asked[-1].names) == (True, True)


def test_a_server_that_refuses_everything_is_asked_within_the_budget() -> None:
    report, asked = probed(capabilities("{base}/features", formats=("gml", "json")), lambda request: exception())
    assert report.level is Level.ADVERTISED
    assert len(asked) <= 8
    assert str(report.attempts[0].outcome) == "exception"
