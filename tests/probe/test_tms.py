"""TMS and WMS-C: tiles that say where they are."""

from __future__ import annotations

import pytest

from geocrawl.model import Kind, Status
from geocrawl.probe.registry import probe_of
from tests.probe.json_answers import ask
from tests.support.answers import HTML, page

ROOT = "http://tiles.example.org/tms/1.0.0"
SERVICE = f"""<?xml version="1.0"?><TileMapService version="1.0.0" services="http://tiles.example.org/tms/">
<Title>Tiles of the town</Title><Abstract>All</Abstract><KeywordList>town tiles</KeywordList>
<ContactInformation><ContactPersonPrimary><ContactOrganization>Town</ContactOrganization></ContactPersonPrimary>
</ContactInformation><TileMaps>
<TileMap title="Streets" srs="EPSG:900913" profile="global-mercator" href="{ROOT}/streets/EPSG900913"/>
<TileMap title="Air &#233;" srs="EPSG:4326" href="{ROOT}/air"/></TileMaps></TileMapService>"""
MAP = """<TileMap version="1.0.0" tilemapservice="http://tiles.example.org/tms/1.0.0"><Title>Streets</Title>
<SRS>{srs}</SRS><BoundingBox minx="{0}" miny="{1}" maxx="{2}" maxy="{3}"/><Origin x="0" y="0"/>
<TileFormat width="256" height="256" mime-type="image/png" extension="png"/>
<TileSets profile="none"><TileSet href="x/0" units-per-pixel="0.7" order="0"/></TileSets></TileMap>"""
TILED = """<?xml version="1.0"?><WMT_MS_Capabilities version="1.1.1"><Service><Name>OGC:WMS</Name>
<Title>Tiles</Title></Service><Capability><VendorSpecificCapabilities>{}</VendorSpecificCapabilities>
<Layer><Layer><Name>streets</Name><Title>All streets</Title></Layer></Layer></Capability></WMT_MS_Capabilities>"""
TILE_SET = """<TileSet><SRS>{}</SRS><BoundingBox SRS="{}" minx="0" miny="0" maxx="{}" maxy="{}"/>
<Resolutions>1 2</Resolutions><Width>256</Width><Height>256</Height>
<Format>image/png</Format><Layers>streets</Layers><Styles/></TileSet>"""


def test_a_service_lists_its_tile_maps() -> None:
    verdict, asked = ask(probe_of(Kind.TMS), ROOT, {"*": page(SERVICE)})
    service = verdict.service
    assert service is not None
    assert asked == [ROOT]
    assert (service.kind, service.version, service.title) == (Kind.TMS, "1.0.0", "Tiles of the town")
    assert (service.provider, service.abstract) == ("Town", "All")
    assert [(layer.name, layer.title, layer.crs) for layer in service.layers] == [
        ("streets/EPSG900913", "Streets", ("EPSG:900913",)),
        ("air", "Air é", ("EPSG:4326",)),
    ]


def test_the_other_spelling_of_the_root_is_asked_for_when_the_first_is_not_found() -> None:
    verdict, asked = ask(probe_of(Kind.TMS), ROOT, {f"{ROOT}/": page(SERVICE)})
    assert (verdict.status, asked, verdict.requests) == (Status.VALID, [ROOT, f"{ROOT}/"], 2)


@pytest.mark.parametrize(
    "before", ['<?xml version="1.0"?>', "", "\n ", "Warning: mktime() in /srv/tms.php\n", "<!-- -->"]
)
@pytest.mark.parametrize("root", ["Services", "TileMapService", "TileMap"])
def test_each_root_is_read_with_and_without_a_declaration(before: str, root: str) -> None:
    documents = {
        "Services": f'<Services><TileMapService title="Tiles" version="1.0.0" href="{ROOT}"/></Services>',
        "TileMapService": SERVICE.partition("?>")[2],
        "TileMap": MAP.format(5, 45, 10, 48, srs="EPSG:4326"),
    }
    verdict, _ = ask(probe_of(Kind.TMS), ROOT, {"*": page(before + documents[root])})
    assert (verdict.status, verdict.detail) == (Status.VALID, root)


@pytest.mark.parametrize(
    ("srs", "sides", "box"),
    [
        ("EPSG:4326", (5, 45, 10, 48), (5, 45, 10, 48)),
        ("OSGEO:41001", (0, 0, 1113194.9, 1118889.97), (0, 0, 10, 10)),
        ("EPSG:3857", (-20037508.35, -20037508.35, 20037508.35, 20037508.35), (-180, -85.0511, 180, 85.0511)),
        ("EPSG:3857", (5, 45, 10, 48), (5, 45, 10, 48)),
        ("EPSG:28992", (0, 0, 1, 1), None),
    ],
)
def test_the_box_of_a_tile_map_is_read_in_its_own_system(
    srs: str, sides: tuple[float, ...], box: tuple[float, ...] | None
) -> None:
    verdict, _ = ask(probe_of(Kind.TMS), ROOT, {"*": page(MAP.format(*sides, srs=srs))})
    assert verdict.service is not None
    (layer,) = verdict.service.layers
    found = layer.box.bounds if layer.box is not None else None
    assert found == (pytest.approx(box, abs=1e-3) if box else None)
    assert (layer.title, layer.formats) == ("Streets", ("image/png",))


def test_a_root_leads_to_its_services() -> None:
    body = f'<?xml version="1.0"?><Services><TileMapService title="T" version="1.0.0" href="{ROOT}/"/></Services>'
    verdict, _ = ask(probe_of(Kind.TMS), "http://tiles.example.org/tms/", {"*": page(body)})
    assert [lead.endpoint.url.address for lead in verdict.leads] == [ROOT]


def test_the_example_address_that_programs_write_into_files_is_no_lead() -> None:
    body = MAP.format(0, 0, 1, 1, srs="EPSG:4326").replace("tiles.example.org/tms", "tms.osgeo.org")
    assert ask(probe_of(Kind.TMS), "http://maps.example.org/t/tilemapresource.xml", {"*": page(body)})[0].leads == ()


@pytest.mark.parametrize("body", [SERVICE[:400], SERVICE[: SERVICE.index("</TileMaps>")]])
def test_a_cut_document_is_truncated(body: str) -> None:
    assert ask(probe_of(Kind.TMS), ROOT, {"*": page(body)})[0].reason == "truncated"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (HTML, "html"),
        (b"<TileMapServerError><Message>no such map</Message></TileMapServerError>", "not-capabilities"),
        (b"<Services><Service/></Services>", "not-capabilities"),
        (b"<TileMap><Other/></TileMap>", "not-capabilities"),
    ],
)
def test_other_answers_are_rejected(body: bytes, reason: str) -> None:
    assert ask(probe_of(Kind.TMS), ROOT, {"*": page(body)})[0].reason == reason


def test_the_tile_sets_of_one_layer_are_one_item() -> None:
    sets = TILE_SET.format("EPSG:4326", "EPSG:4326", 10, 10) + TILE_SET.format("EPSG:900913", "EPSG:900913", 1e6, 1e6)
    verdict, asked = ask(probe_of(Kind.WMSC), "http://tiles.example.org/service", {"*": page(TILED.format(sets))})
    service = verdict.service
    assert service is not None
    assert asked == [
        "http://tiles.example.org/service?SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.1.1&TILED=true",
    ]
    assert (service.kind, service.title, verdict.detail) == (Kind.WMSC, "Tiles", "2 tile sets")
    (layer,) = service.layers
    assert (layer.name, layer.title, layer.crs) == ("streets", "All streets", ("EPSG:4326", "EPSG:900913"))
    assert layer.box is not None
    assert layer.box.bounds == (0, 0, 10, 10)


def test_a_wms_without_tile_sets_is_another_kind() -> None:
    verdict, _ = ask(probe_of(Kind.WMSC), "http://tiles.example.org/service", {"*": page(TILED.format(""))})
    assert (verdict.reason, [lead.endpoint.kind for lead in verdict.leads]) == ("other-kind", [Kind.WMS])
