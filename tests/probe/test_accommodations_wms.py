"""WMS on loopback, each particular in one thing that GIS clients accommodate (docs/services.md)."""

from __future__ import annotations

import pytest

from geocrawl.model import ContentReport, Kind, Level
from tests.probe import particular_servers
from tests.probe.particular_servers import Answer, Reply, Request, blank, delivers, drawn, refused

BOX = """<EX_GeographicBoundingBox><westBoundLongitude>-180</westBoundLongitude>
<eastBoundLongitude>180</eastBoundLongitude>
<southBoundLatitude>-90</southBoundLatitude><northBoundLatitude>90</northBoundLatitude></EX_GeographicBoundingBox>"""
LAT_LON = '<LatLonBoundingBox minx="-180" miny="-90" maxx="180" maxy="90"/>'


def capabilities(
    *,
    get: str = "{base}/wms?",
    layer: str = BOX,
    crs: tuple[str, ...] = ("CRS:84",),
    formats: tuple[str, ...] = ("image/png",),
    version: str = "1.3.0",
) -> str:
    """A document with one layer, plain; `get`: the address of GetMap, `layer`: what the layer states of itself."""
    root = "WMS_Capabilities" if version == "1.3.0" else "WMT_MS_Capabilities"
    namespace = ' xmlns="http://www.opengis.net/wms"' if version == "1.3.0" else ""
    tag = "CRS" if version == "1.3.0" else "SRS"
    return (
        f'<?xml version="1.0"?><{root} version="{version}"{namespace} xmlns:xlink="http://www.w3.org/1999/xlink">'
        "<Service><Name>WMS</Name><Title>Plain</Title></Service><Capability><Request><GetMap>"
        + "".join(f"<Format>{name}</Format>" for name in formats)
        + f'<DCPType><HTTP><Get><OnlineResource xlink:href="{get}"/></Get></HTTP></DCPType></GetMap></Request>'
        + "<Layer><Name>plain</Name><Title>Plain</Title>"
        + "".join(f"<{tag}>{code}</{tag}>" for code in crs)
        + f"{layer}</Layer></Capability></{root}>"
    )


def probed(document: str, answer: Answer = drawn, path: str = "/wms") -> tuple[ContentReport, list[Request]]:
    return particular_servers.probed(Kind.WMS, document, answer, path=path.removeprefix("/wms"))


# --------------------------------------------------------------------------- ordinary servers


@pytest.mark.parametrize(("crs", "requests"), [("CRS:84", 1), ("EPSG:4326", 2), ("EPSG:3857", 1)])
def test_an_ordinary_server_is_asked_as_often_as_before(crs: str, requests: int) -> None:
    report, asked = probed(capabilities(crs=(crs,)))
    assert delivers(report)
    assert len(asked) == requests, "EPSG:4326 of 1.3.0 is compared with 1.1.1"


# --------------------------------------------------------------------------- addresses


def at(path: str, **needed: str) -> Answer:
    """A server that draws at this path with these parameters only."""

    def answer(request: Request) -> Reply:
        if request.path != path:
            return Reply(b"not found", "text/html", 404)
        if any(request.get(name) != value for name, value in needed.items()):
            return refused("No query information to decode")
        return drawn(request)

    return answer


def test_a_map_is_requested_at_the_address_of_get_map() -> None:
    report, asked = probed(capabilities(get="{base}/maps/draw?"), at("/maps/draw"))
    assert (delivers(report), len(asked)) == (True, 1)


def test_parameters_of_the_address_of_get_map_are_kept() -> None:
    document = capabilities(get="{base}/cgi?map=/data/plain.map&amp;sid=4f&amp;service=WMS&amp;")
    report, asked = probed(document, at("/cgi", MAP="/data/plain.map", SID="4f"))
    assert (delivers(report), len(asked)) == (True, 1)


def test_a_map_is_requested_on_another_host_where_the_endpoint_has_none() -> None:
    report, asked = probed(capabilities(get="{other}/maps/draw?"), at("/maps/draw"))
    assert (delivers(report), [each.path for each in asked]) == (True, ["/wms", "/maps/draw"])


def test_the_endpoints_own_answer_is_told_where_the_other_host_is_dead() -> None:
    report, _ = probed(capabilities(get="http://localhost:1/wms?"), lambda request: refused("no such layer"))
    assert [entry.outcome for entry in report.attempts] == ["exception"]


@pytest.mark.parametrize("status", [404, 410, 403, 500, 200])
def test_the_first_address_is_asked_where_the_given_one_is_dead(status: int) -> None:
    def answer(request: Request) -> Reply:
        return drawn(request) if request.path == "/wms" else Reply(b"<html>gone</html>", "text/html", status)

    report, asked = probed(capabilities(get="{base}/gone?"), answer)
    assert (delivers(report), [each.path for each in asked]) == (True, ["/gone", "/wms"])


@pytest.mark.parametrize("get", ["http://elsewhere.example/wms?", "http://localhost:1/wms?", "", "{base}/wms"])
def test_addresses_that_cannot_be_asked_are_ignored(get: str) -> None:
    report, asked = probed(capabilities(get=get))
    assert (delivers(report), [each.path for each in asked]) == (True, ["/wms"])


def test_parameters_that_the_given_address_forgets_are_kept() -> None:
    report, asked = probed(capabilities(), at("/wms", MAP="plain"), "/wms?map=plain")
    assert (delivers(report), len(asked)) == (True, 1)


def test_a_relative_address_is_understood() -> None:
    report, asked = probed(capabilities(get="/maps/draw?"), at("/maps/draw"))
    assert (delivers(report), len(asked)) == (True, 1)


# --------------------------------------------------------------------------- dimensions


def needing(**values: str) -> Answer:
    """A server that draws only with these values of dimensions."""

    def answer(request: Request) -> Reply:
        for name, value in values.items():
            if request.get(name) != value:
                code = "InvalidDimensionValue" if request.get(name) else "MissingDimensionValue"
                return refused(f"{name} is missing or wrong", code)
        return drawn(request)

    return answer


def test_every_dimension_is_sent_with_its_default() -> None:
    layer = (
        BOX
        + '<Dimension name="time" units="ISO8601" default="2020-01-02">2020-01-01/2020-01-03/P1D</Dimension>'
        + '<Dimension name="elevation" units="m" default="10">0,10,20</Dimension>'
        + '<Dimension name="Run" units="" default="b">a,b</Dimension>'
    )
    report, asked = probed(capabilities(layer=layer), needing(TIME="2020-01-02", ELEVATION="10", DIM_RUN="b"))
    assert (delivers(report), len(asked)) == (True, 1)


@pytest.mark.parametrize(
    ("extent", "value"),
    [
        ("2020-01-01,2020-01-02,2020-01-03", "2020-01-03"),
        ("2020-01-01/2020-01-03/P1D", "2020-01-03"),
        (",".join(f"2020-01-01T00:{i // 60:02}:{i % 60:02}.000Z" for i in range(3_000)), "2020-01-01T00:49:59.000Z"),
    ],
)
def test_the_latest_time_is_sent_where_there_is_no_default(extent: str, value: str) -> None:
    layer = f'{BOX}<Dimension name="time" units="ISO8601">{extent}</Dimension>'
    assert delivers(probed(capabilities(layer=layer), needing(TIME=value))[0])


def test_the_first_elevation_is_sent_where_there_is_no_default() -> None:
    layer = f'{BOX}<Dimension name="elevation" units="m">5,10,20</Dimension>'
    assert delivers(probed(capabilities(layer=layer), needing(ELEVATION="5"))[0])


def test_dimensions_of_1_1_1_have_their_values_in_an_element_of_their_own() -> None:
    layer = (
        LAT_LON
        + '<Dimension name="time" units="ISO8601"/>'
        + '<Extent name="time" default="2020-02-02">2020-01-01/2020-03-03/P1D</Extent>'
    )
    document = capabilities(layer=layer, crs=("EPSG:4326",), version="1.1.1")
    assert delivers(probed(document, needing(TIME="2020-02-02"))[0])


def test_a_default_that_is_refused_is_replaced() -> None:
    layer = f'{BOX}<Dimension name="time" units="ISO8601" default="1999-01-01">2020-01-01,2020-01-02</Dimension>'
    report, asked = probed(capabilities(layer=layer), needing(TIME="2020-01-02"))
    assert (delivers(report), [each.get("TIME") for each in asked]) == (True, ["1999-01-01", "2020-01-02"])


# --------------------------------------------------------------------------- scales


def scale_of(request: Request) -> float:
    west, _, east, _ = map(float, request.get("BBOX").split(","))
    return (east - west) * 111_319.49 / int(request.get("WIDTH")) / 0.00028


def drawn_between(least: float, greatest: float) -> Answer:
    return lambda request: drawn(request) if least <= scale_of(request) < greatest else blank(request)


@pytest.mark.parametrize(
    "limits",
    [
        "<MinScaleDenominator>10000000</MinScaleDenominator><MaxScaleDenominator>100000000</MaxScaleDenominator>",
        "<MaxScaleDenominator>100000000</MaxScaleDenominator>",
    ],
)
def test_a_map_is_requested_at_a_scale_at_which_the_layer_is_drawn(limits: str) -> None:
    least = 10_000_000 if "Min" in limits else 0
    report, asked = probed(capabilities(layer=BOX + limits), drawn_between(least, 100_000_000))
    assert delivers(report)
    assert all(least <= scale_of(each) < 100_000_000 for each in asked)


def test_a_scale_hint_of_1_1_1_is_kept_to() -> None:
    layer = f'{LAT_LON}<ScaleHint min="1000" max="40000"/>'
    document = capabilities(layer=layer, crs=("EPSG:4326",), version="1.1.1")
    report, asked = probed(document, drawn_between(1000 / 2**0.5 / 0.00028, 40000 / 2**0.5 / 0.00028))
    assert delivers(report)
    assert scale_of(asked[0]) < 40000 / 2**0.5 / 0.00028


def test_an_extent_below_the_least_scale_is_widened() -> None:
    small = BOX.replace("-180", "11.9").replace("180", "12.1").replace("-90", "47.9").replace("90", "48.1")
    layer = f"{small}<MinScaleDenominator>1000000</MinScaleDenominator>"
    assert delivers(probed(capabilities(layer=layer), drawn_between(1_000_000, 1e12))[0])


# --------------------------------------------------------------------------- formats


@pytest.mark.parametrize(
    ("offered", "written_as"),
    [
        (("image/svg+xml", "image/webp"), "WEBP"),
        (("image/geotiff", "application/pdf"), "TIFF"),
        (("image/tiff; application=geotiff", "image/vnd.dwg"), "TIFF"),
        (("image/png; mode=8bit",), "PNG"),
        (("application/vnd.google-earth.kml+xml", "image/png8"), "PNG"),
        (("image/gif", "image/jpeg"), "JPEG"),
        (("image/JPG",), "JPEG"),
    ],
)
def test_a_format_that_can_be_decoded_is_requested(offered: tuple[str, ...], written_as: str) -> None:
    def answer(request: Request) -> Reply:
        if request.get("FORMAT") not in offered:
            return refused("not offered", "InvalidFormat")
        return drawn(request, written_as=written_as)

    report, asked = probed(capabilities(formats=offered), answer)
    assert (delivers(report), len(asked)) == (True, 1)


def test_the_next_format_is_requested_where_one_is_refused() -> None:
    def answer(request: Request) -> Reply:
        if request.get("FORMAT") == "image/png":
            return refused("Format not available", "InvalidFormat")
        return drawn(request, written_as="JPEG")

    report, asked = probed(capabilities(formats=("image/png", "image/jpeg")), answer)
    assert (delivers(report), [each.get("FORMAT") for each in asked]) == (True, ["image/png", "image/jpeg"])


# --------------------------------------------------------------------------- reference systems, axes, extents


@pytest.mark.parametrize(
    "refusal", [refused("no", "InvalidCRS"), refused("msWMSLoadGetMapParams(): SRS not supported"), refused("no")]
)
def test_reference_systems_are_tried_in_turn(refusal: Reply) -> None:
    def answer(request: Request) -> Reply:
        return drawn(request) if request.get("CRS") == "EPSG:3857" else refusal

    report, asked = probed(capabilities(crs=("EPSG:4326", "CRS:84", "EPSG:3857")), answer)
    assert delivers(report)
    assert asked[-1].get("CRS") == "EPSG:3857"


def test_the_wrong_order_of_axes_shows_by_an_exception() -> None:
    def answer(request: Request) -> Reply:
        west, _, east, _ = map(float, request.get("BBOX").split(","))
        if request.get("VERSION") == "1.3.0" and east - west < 200:
            return refused("Invalid BBOX: latitude out of range")
        return drawn(request, swapped=True)

    report, _ = probed(capabilities(crs=("EPSG:4326",)), answer)
    assert (report.level, report.attempts[0].outcome) == (Level.ANSWERS, "axis-order")


@pytest.mark.parametrize(
    ("layer", "crs"),
    [
        ("", ("CRS:84",)),
        ("", ()),
        ('<BoundingBox CRS="EPSG:3857" minx="-2e7" miny="-1e7" maxx="2e7" maxy="1e7"/>', ("EPSG:4326",)),
        ('<BoundingBox CRS="EPSG:4326" minx="-90" miny="-180" maxx="90" maxy="180"/>', ("CRS:84",)),
        (BOX, ("EPSG:31467",)),
    ],
)
def test_an_extent_is_found_where_the_layer_states_none_that_fits(layer: str, crs: tuple[str, ...]) -> None:
    def answer(request: Request) -> Reply:
        known = request.get("CRS") in ("EPSG:4326", "CRS:84") or request.get("VERSION") != "1.3.0"
        return drawn(request) if known else refused("no", "InvalidCRS")

    assert delivers(probed(capabilities(layer=layer, crs=crs), answer)[0])


def test_an_extent_that_makes_no_sense_is_requested_as_it_is_stated() -> None:
    stated = '<BoundingBox SRS="EPSG:4326" minx="46" miny="-124" maxx="47" maxy="-123"/>'
    document = capabilities(layer=stated, crs=("EPSG:4326",), version="1.1.1")
    report, asked = probed(document)
    assert (delivers(report), asked[0].get("BBOX")) == (True, "46,-124,47,-123")


@pytest.mark.parametrize("far", ["1e308", "1.7e308", "1e200"])
@pytest.mark.parametrize("scales", ["", "<MinScaleDenominator>1e308</MinScaleDenominator>"])
def test_an_extent_too_large_for_any_calculation_is_none(far: str, scales: str) -> None:
    stated = f'<BoundingBox SRS="EPSG:31370" minx="-{far}" miny="-{far}" maxx="{far}" maxy="1"/>{scales}'
    report, asked = probed(capabilities(layer=stated, crs=("EPSG:31370",), version="1.1.1"))
    assert not delivers(report)
    assert all(far not in each.get("BBOX") and "inf" not in each.get("BBOX") for each in asked)


@pytest.mark.parametrize("limit", ["1e308", "1e-308"])
def test_limits_on_the_scale_that_are_nonsense_break_nothing(limit: str) -> None:
    for name in ("MinScaleDenominator", "MaxScaleDenominator"):
        report, _ = probed(capabilities(layer=f"{BOX}<{name}>{limit}</{name}>"), lambda request: refused("no"))
        assert not delivers(report)


# --------------------------------------------------------------------------- optional parameters


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("text", ["TRANSPARENT is not supported", "bad request"])
def test_transparent_is_left_out_where_it_is_refused(text: str, status: int) -> None:
    def answer(request: Request) -> Reply:
        return refused(text, status=status) if request.get("TRANSPARENT") else drawn(request)

    report, asked = probed(capabilities(), answer)
    assert (delivers(report), len(asked)) == (True, 2)


def test_transparent_is_not_sent_with_jpeg() -> None:
    report, asked = probed(capabilities(formats=("image/jpeg",)))
    assert (delivers(report), "TRANSPARENT" in asked[0].parameters) == (True, False)


def test_a_named_style_is_sent_where_the_empty_one_is_refused() -> None:
    def answer(request: Request) -> Reply:
        return drawn(request) if request.get("STYLES") == "dots" else refused("no", "StyleNotDefined")

    layer = f"{BOX}<Style><Name>dots</Name><Title>Dots</Title></Style>"
    report, asked = probed(capabilities(layer=layer), answer)
    assert (delivers(report), len(asked)) == (True, 2)


def test_styles_are_left_out_where_they_are_refused() -> None:
    def answer(request: Request) -> Reply:
        return refused("no", "StyleNotDefined") if "STYLES" in request.parameters else drawn(request)

    assert delivers(probed(capabilities(), answer)[0])


# --------------------------------------------------------------------------- what is no map, and the budget


def test_a_server_that_refuses_everything_is_asked_within_the_budget() -> None:
    report, asked = probed(capabilities(crs=("EPSG:4326", "CRS:84", "EPSG:3857")), lambda request: refused("no"))
    assert report.level is Level.ADVERTISED
    assert len(asked) <= 8
    assert {str(entry.outcome) for entry in report.attempts} == {"exception"}


def test_the_detail_tells_an_exception_by_its_code_and_an_http_error_by_its_status() -> None:
    report, _ = probed(capabilities(), lambda request: refused("no such layer", "LayerNotDefined", 500))
    assert (report.attempts[0].outcome, report.attempts[0].detail) == ("exception", "LayerNotDefined: no such layer")
    report, _ = probed(capabilities(), lambda request: Reply(b"oops", "text/html", 500))
    assert (report.attempts[0].outcome, report.attempts[0].detail) == ("http-error", "HTTP 500")


def test_an_image_in_which_only_single_pixels_differ_is_blank() -> None:
    import io

    from PIL import Image

    def answer(request: Request) -> Reply:
        image = Image.new("RGB", (int(request.get("WIDTH")), int(request.get("HEIGHT"))), "white")
        for x in range(0, 60, 10):
            image.putpixel((x, 1 + x * 2 % 100), (255, 0, 0))
        written = io.BytesIO()
        image.save(written, "PNG")
        return Reply(written.getvalue())

    report, _ = probed(capabilities(), answer)
    assert (report.level, report.attempts[0].outcome) == (Level.ANSWERS, "blank")


def test_names_are_sent_in_lower_case_where_no_others_are_known() -> None:
    report, asked = particular_servers.probed(Kind.WMS, capabilities(), drawn, lower_case_only=True)
    assert (delivers(report), "layers" in asked[-1].names) == (True, True)


def test_the_reference_system_that_was_accepted_is_requested_first_for_later_layers() -> None:
    layers = [f"</Layer><Layer><Name>l{n}</Name><Title>x</Title>{BOX}" for n in range(3)]
    document = capabilities(crs=("EPSG:4326", "EPSG:3857")).replace("</Layer></Cap", "".join(layers) + "</Layer></Cap")
    document = document.replace(BOX, BOX + "<CRS>EPSG:4326</CRS><CRS>EPSG:3857</CRS>")

    def answer(request: Request) -> Reply:
        return blank(request) if request.get("CRS") == "EPSG:3857" else refused("no", "InvalidCRS")

    _, asked = probed(document, answer)
    assert [each.get("CRS") for each in asked].count("EPSG:4326") == 1
