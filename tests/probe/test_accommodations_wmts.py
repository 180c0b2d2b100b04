"""WMTS on loopback, each particular in one thing that GIS clients accommodate (docs/services.md)."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from PIL import Image, ImageDraw

from geocrawl.model import Kind, Level
from tests.probe import particular_servers
from tests.probe.particular_servers import Reply, Request, delivers

probed = partial(particular_servers.probed, Kind.WMTS)
MATRICES = "".join(
    f"""<TileMatrix><ows:Identifier>{z}</ows:Identifier><ScaleDenominator>{559082264.0287178 / 2**z}</ScaleDenominator>
<TopLeftCorner>-20037508.3428 20037508.3428</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight>
<MatrixWidth>{2**z}</MatrixWidth><MatrixHeight>{2**z}</MatrixHeight></TileMatrix>"""
    for z in range(10)
)
TEMPLATE = "{base}/rest/{layer}/{STYLE}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png"
REST = "/rest/relief/grey/google/6/22/33.png"
TIME = "<Dimension><ows:Identifier>Time</ows:Identifier>{}<Value>2019</Value><Value>2020</Value></Dimension>"


def capabilities(
    *,
    get: str = "",
    encoding: str = "KVP",
    template: str = "",
    formats: tuple[str, ...] = ("image/png",),
    styles: tuple[str, ...] = ("grey",),
    dimension: str = "",
    limits: str = "",
) -> str:
    """A document with one layer, relief; `get`: the address of GetTile, '' for none."""
    constraint = f"""<ows:Constraint name="GetEncoding"><ows:AllowedValues><ows:Value>{encoding}</ows:Value>
</ows:AllowedValues></ows:Constraint>"""
    operation = f"""<ows:OperationsMetadata><ows:Operation name="GetTile"><ows:DCP><ows:HTTP>
<ows:Get xlink:href="{get}">
{constraint}</ows:Get></ows:HTTP></ows:DCP></ows:Operation></ows:OperationsMetadata>"""
    resource = f'<ResourceURL format="{formats[0]}" resourceType="tile" template="{template}"/>'
    return f"""<Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0"
 xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink">{operation if get else ""}
<Contents><Layer><ows:Identifier>relief</ows:Identifier><ows:WGS84BoundingBox><ows:LowerCorner>6 46</ows:LowerCorner>
<ows:UpperCorner>10 48</ows:UpperCorner></ows:WGS84BoundingBox>
{"".join(f"<Style><ows:Identifier>{name}</ows:Identifier></Style>" for name in styles)}
{"".join(f"<Format>{name}</Format>" for name in formats)}{dimension}
<TileMatrixSetLink><TileMatrixSet>google</TileMatrixSet>{limits}</TileMatrixSetLink>{resource if template else ""}
</Layer><TileMatrixSet><ows:Identifier>google</ows:Identifier>
<ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>{MATRICES}</TileMatrixSet></Contents></Capabilities>"""


def image(drawn: Image.Image, written_as: str = "PNG") -> Reply:
    written = io.BytesIO()
    drawn.save(written, written_as)
    return Reply(written.getvalue(), f"image/{written_as.lower()}")


def tile(written_as: str = "PNG") -> Reply:
    """A tile full of colours."""
    ramp = np.linspace(0, 255, 256).astype(np.uint8)
    return image(
        Image.fromarray(np.stack([*np.meshgrid(ramp, ramp), np.full((256, 256), 90, np.uint8)], 2)), written_as
    )


def exception(code: str, text: str, locator: str = "") -> Reply:
    body = f"""<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception exceptionCode="{code}"
 locator="{locator}"><ows:ExceptionText>{text}</ows:ExceptionText></ows:Exception></ows:ExceptionReport>"""
    return Reply(body.encode(), "text/xml", 400)


def at(path: str) -> Callable[[Request], Reply]:
    return lambda request: tile() if request.path == path else Reply(b"not found", "text/html", 404)


def test_an_ordinary_server_is_asked_for_one_tile_by_query() -> None:
    report, asked = probed(capabilities(get="{base}/wmts?", template=TEMPLATE), at("/wmts"))
    assert (delivers(report), len(asked)) == (True, 1)


def test_a_tile_is_requested_at_the_address_of_get_tile_with_its_parameters() -> None:
    def answer(request: Request) -> Reply:
        return tile() if (request.path, request.get("MAP")) == ("/cgi", "a") else Reply(b"no", "text/html", 404)

    report, asked = probed(capabilities(get="{base}/cgi?map=a&amp;"), answer)
    assert (delivers(report), len(asked)) == (True, 1)


@pytest.mark.parametrize("encoding", ["RESTful", "REST"])
def test_a_template_is_filled_where_only_paths_are_stated(encoding: str) -> None:
    report, asked = probed(capabilities(get="{base}/rest/", encoding=encoding, template=TEMPLATE), at(REST))
    assert (delivers(report), [each.path for each in asked]) == (True, [REST])


@pytest.mark.parametrize("get", ["{base}/gone?", ""])
def test_a_template_is_filled_where_queries_are_dead(get: str) -> None:
    report, asked = probed(capabilities(get=get, template=TEMPLATE), at(REST))
    assert delivers(report)
    assert asked[-1].path == REST


@pytest.mark.parametrize(
    "template", [TEMPLATE, "http://elsewhere.example/{Layer}/{TileMatrix}/{TileRow}/{TileCol}.png"]
)
def test_queries_are_tried_where_templates_are_dead(template: str) -> None:
    document = capabilities(get="{base}/rest/", encoding="RESTful", template=template)
    assert delivers(probed(document, at("/wmts"))[0])


@pytest.mark.parametrize("get", ["{other}/rest/", ""])
def test_a_template_on_another_host_is_filled_where_the_endpoint_has_no_tiles(get: str) -> None:
    assert delivers(probed(capabilities(get=get, template=TEMPLATE.replace("base", "other")), at(REST))[0])


def test_a_relative_template_is_understood() -> None:
    document = capabilities(get="/rest/", encoding="RESTful", template=TEMPLATE.removeprefix("{base}"))
    assert delivers(probed(document, at(REST))[0])


@pytest.mark.parametrize("default", ["<Default>2020</Default>", ""])
def test_a_dimension_is_sent_and_filled(default: str) -> None:
    template = TEMPLATE.replace("{STYLE}", "{STYLE}/{time}")
    document = capabilities(get="{base}/rest/", encoding="REST", template=template, dimension=TIME.format(default))
    assert delivers(probed(document, at(REST.replace("grey", "grey/2020")))[0])
    document = capabilities(get="{base}/wmts?", dimension=TIME.format(default))
    report, asked = probed(document, lambda request: tile() if request.get("TIME") == "2020" else Reply(b"", "", 404))
    assert (delivers(report), len(asked)) == (True, 1)


@pytest.mark.parametrize(
    ("formats", "written_as"),
    [(("image/svg+xml", "image/webp"), "WEBP"), (("image/png; mode=8bit",), "PNG"), (("image/geotiff",), "TIFF")],
)
def test_a_format_that_can_be_decoded_is_requested(formats: tuple[str, ...], written_as: str) -> None:
    def answer(request: Request) -> Reply:
        wanted = written_as.lower() in request.get("FORMAT") and request.get("FORMAT") in formats
        return tile(written_as) if wanted else exception("InvalidParameterValue", "no", "Format")

    report, asked = probed(capabilities(formats=formats), answer)
    assert (delivers(report), len(asked)) == (True, 1)


@pytest.mark.parametrize(
    ("name", "is_tried"), [("tiles", True), ("image/new", True), ("application/vnd.mapbox-vector-tile", False)]
)
def test_a_format_of_an_unknown_name_is_tried(name: str, is_tried: bool) -> None:
    report, asked = probed(capabilities(formats=(name,)), lambda request: tile("PNG"))
    assert (delivers(report), bool(asked)) == (is_tried, is_tried)


def test_another_format_is_requested_where_one_is_refused() -> None:
    def answer(request: Request) -> Reply:
        is_jpeg = request.get("FORMAT") == "image/jpeg"
        return tile("JPEG") if is_jpeg else exception("InvalidParameterValue", "no", "Format")

    report, asked = probed(capabilities(formats=("image/png", "image/jpeg")), answer)
    assert (delivers(report), len(asked)) == (True, 2)


def test_the_usual_style_is_sent_where_none_is_stated_and_the_empty_one_is_refused() -> None:
    def answer(request: Request) -> Reply:
        return tile() if request.get("STYLE") == "default" else exception("InvalidParameterValue", "no", "STYLE")

    assert delivers(probed(capabilities(styles=()), answer)[0])


def test_a_template_of_a_layer_without_a_style_is_filled_with_the_usual_one() -> None:
    document = capabilities(get="{base}/rest/", encoding="RESTful", template=TEMPLATE, styles=())
    assert delivers(probed(document, at(REST.replace("grey", "default")))[0])


def in_level_6(request: Request) -> Reply:
    """The tile in the layer's middle in matrix 6; nothing elsewhere, as where only that level was made."""
    place = (request.get("TILEMATRIX"), request.get("TILEROW"), request.get("TILECOL"))
    return tile() if place == ("6", "22", "33") else Reply(b"not found", "text/html", 404)


def test_limits_count_where_the_name_of_the_set_stands_before_the_name_of_the_matrix() -> None:
    limits = """<TileMatrixSetLimits><TileMatrixLimits><TileMatrix>google:6</TileMatrix><MinTileRow>20</MinTileRow>
<MaxTileRow>24</MaxTileRow><MinTileCol>30</MinTileCol><MaxTileCol>36</MaxTileCol></TileMatrixLimits>
</TileMatrixSetLimits>"""
    report, asked = probed(capabilities(limits=limits), in_level_6)
    assert (delivers(report), len(asked)) == (True, 1)


def test_a_top_left_corner_with_swapped_numbers_is_understood() -> None:
    document = capabilities().replace("-20037508.3428 20037508.3428", "20037508.3428 -20037508.3428")
    report, asked = probed(document, in_level_6)
    assert (delivers(report), len(asked)) == (True, 1)


@pytest.mark.parametrize("rows", [1, 24])
def test_the_same_message_drawn_into_every_tile_is_no_map(rows: int) -> None:
    def answer(request: Request) -> Reply:
        drawn = Image.new("RGB", (256, 256), "white")
        for row in range(rows):
            ImageDraw.Draw(drawn).text((4, 4 + row * 10), "No data available. " * 3, "black")
        return image(drawn)

    report, _ = probed(capabilities(), answer)
    assert (report.level, report.attempts[0].outcome) == (Level.ANSWERS, "image-error-text")


def test_names_are_sent_in_lower_case_where_no_others_are_known() -> None:
    report, asked = probed(capabilities(), at("/wmts"), lower_case_only=True)
    assert (delivers(report), "tilerow" in asked[-1].names) == (True, True)


def test_a_server_that_refuses_everything_is_asked_within_the_budget() -> None:
    document = capabilities(get="{base}/tiles?", template=TEMPLATE, formats=("image/png", "image/jpeg"))
    report, asked = probed(document, lambda request: exception("NoApplicableCode", "no"))
    assert report.level is Level.ADVERTISED
    assert len(asked) <= 7, "one of eight is for the document"
