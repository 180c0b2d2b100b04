"""WMTS: KVP, RESTful documents, and layers with the reference systems of their tile matrix sets."""

from __future__ import annotations

import pytest

from geocrawl.model import Item, Kind, Status
from geocrawl.probe.kinds.wmts.probe import FORM
from geocrawl.probe.ows.capabilities import examine
from tests.probe.kinds import interview, verdict_on
from tests.support.answers import EXCEPTION, HTML, page

WMTS = """<?xml version="1.0"?><Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0"
 xmlns:ows="http://www.opengis.net/ows/1.1"><ows:ServiceIdentification><ows:Title>Tiles</ows:Title>
</ows:ServiceIdentification><Contents><Layer><ows:Title>Relief</ows:Title><ows:Abstract>Shaded</ows:Abstract>
<ows:WGS84BoundingBox><ows:LowerCorner>10 50</ows:LowerCorner><ows:UpperCorner>20 60</ows:UpperCorner>
</ows:WGS84BoundingBox>
<ows:Identifier>relief</ows:Identifier><Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
<Format>image/png</Format><InfoFormat>text/plain</InfoFormat>
<TileMatrixSetLink><TileMatrixSet>google</TileMatrixSet><TileMatrixSetLimits><TileMatrixLimits>
<TileMatrix>google:1</TileMatrix><MinTileRow>0</MinTileRow></TileMatrixLimits><TileMatrixLimits>
<TileMatrix>google:2</TileMatrix></TileMatrixLimits></TileMatrixSetLimits></TileMatrixSetLink>
<TileMatrixSetLink><TileMatrixSet>world</TileMatrixSet></TileMatrixSetLink></Layer>
<Layer><ows:Title>Aerial</ows:Title><ows:Identifier>aerial</ows:Identifier><Format>image/jpeg</Format>
<ows:BoundingBox crs="urn:ogc:def:crs:EPSG::4326"><ows:LowerCorner>50 10</ows:LowerCorner>
<ows:UpperCorner>60 20</ows:UpperCorner></ows:BoundingBox>
<TileMatrixSetLink><TileMatrixSet>unknown</TileMatrixSet></TileMatrixSetLink></Layer>
<TileMatrixSet><ows:Identifier>google</ows:Identifier>
<ows:SupportedCRS>urn:ogc:def:crs:EPSG:6.18:3:3857</ows:SupportedCRS>
<TileMatrix><ows:Identifier>0</ows:Identifier><ScaleDenominator>4e8</ScaleDenominator></TileMatrix>
<TileMatrix><ows:Identifier>1</ows:Identifier><ScaleDenominator>2e8</ScaleDenominator></TileMatrix>
<TileMatrix><ows:Identifier>2</ows:Identifier><ScaleDenominator>1e8</ScaleDenominator></TileMatrix>
<TileMatrix><ows:Identifier>3</ows:Identifier><ScaleDenominator>nonsense</ScaleDenominator></TileMatrix></TileMatrixSet>
<TileMatrixSet><ows:Identifier>world</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:OGC:1.3:CRS84</ows:SupportedCRS>
</TileMatrixSet></Contents></Capabilities>"""


def test_layers_have_the_reference_systems_of_their_tile_matrix_sets() -> None:
    service = verdict_on(Kind.WMTS, WMTS).service
    assert service is not None
    relief, aerial = service.layers
    assert (relief.name, relief.title, relief.abstract, relief.item) == ("relief", "Relief", "Shaded", Item.LAYER)
    assert (relief.crs, relief.styles, relief.queryable) == (("EPSG:3857", "CRS:84"), ("default",), True)
    assert (aerial.crs, aerial.formats, aerial.queryable) == ((), ("image/jpeg",), False)
    assert service.formats == ("image/png", "image/jpeg")
    assert relief.box is not None
    assert aerial.box is not None
    assert relief.box.bounds == aerial.box.bounds == (10, 50, 20, 60)


@pytest.mark.parametrize("above", [1_000_000, 1])
def test_layers_have_the_scales_of_the_matrices_in_which_they_have_tiles(above: int) -> None:
    service = examine(page(WMTS), FORM, above=above).service
    assert service is not None
    assert [layer.scales for layer in service.layers] == [(1e8, 2e8), None], "also of a document that is streamed"
    whole = examine(page(WMTS.replace("google:", "elsewhere:")), FORM, above=above).service
    assert whole is not None
    assert whole.layers[0].scales == (1e8, 4e8), "limits that name no matrix of the set bound nothing"


def test_kvp_is_asked_first() -> None:
    verdict, asked = interview(Kind.WMTS, {"1.0.0": page(WMTS)})
    assert (verdict.status, asked) == (Status.VALID, ["1.0.0"])


@pytest.mark.parametrize(
    "refusal",
    [page(b"", status=404), page(HTML, content_type="text/html"), page(EXCEPTION.format("no")), page(b"tiles")],
)
@pytest.mark.parametrize("address", ["http://maps.example.org/wmts", "http://maps.example.org/wmts/1.0.0/"])
def test_the_root_of_a_restful_service_is_known_by_the_document_beneath_it(address: str, refusal: object) -> None:
    verdict, asked = interview(Kind.WMTS, {"*": refusal, "plain": page(WMTS)}, address)  # type: ignore[dict-item]
    assert (verdict.status, asked[-1]) == (Status.VALID, "plain")
    assert verdict.requests <= 3


def test_a_server_that_is_down_is_not_asked_for_a_document() -> None:
    assert interview(Kind.WMTS, {"*": page(b"", status=503)})[1] == ["1.0.0"]


def test_a_restful_document_is_asked_for_as_it_stands() -> None:
    address = "http://maps.example.org/wmts/1.0.0/WMTSCapabilities.xml"
    verdict, asked = interview(Kind.WMTS, {"plain": page(WMTS)}, address)
    assert (verdict.status, asked) == (Status.VALID, ["plain"])
