"""Capabilities as large as some servers' are, probed by a process of its own within its bounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.loopback import Handler, Server, running
from tests.support.processes import clean_environment, geocrawl, run

pytestmark = pytest.mark.acceptance

LIMIT_S = 600
LIMIT_MIB = 300 + (90 if find_spec("py3langid") else 0)
"""Peak memory of the whole process for a document that is read whole; with the model of languages, if there is one."""
_FILL = "Described at the length that data offices like to have it described. "


@pytest.mark.parametrize(
    ("kind", "layers", "most_mib"),
    [("wmts", 40_000, 128), ("wms", 50_000, 128), ("wms", 35_000, 32)],
    ids=["WMTS of 100 MB", "WMS of 50,000 layers", "WMS longer than what is read"],
)
def test_a_large_document_is_read_within_its_bounds(tmp_path: Path, kind: str, layers: int, most_mib: int) -> None:
    pieces: dict[str, Callable[[int], Iterator[bytes]]] = {"wms": wms, "wmts": wmts}
    # Only the length of a document ends its reading, however slow the machine is.
    limits = dict.fromkeys(("READ_TIMEOUT", "TOTAL_TIMEOUT"), LIMIT_S)
    settings = {f"GEOCRAWL_{name}": str(value) for name, value in {**limits, "PROBE_BODY": most_mib << 20}.items()}
    with running(Server(answering(lambda: pieces[kind](layers)))) as server:
        url = f"http://127.0.0.1:{server.server_port}/ows"
        command = geocrawl("probe", url, "--kind", kind, "--json", "--allow-private", "--delay", "0")
        done = run(command, env=clean_environment(tmp_path, **settings), limit_s=LIMIT_S)
    assert done.stdout, done.stderr
    verdict = json.loads(done.stdout.splitlines()[0])
    assert verdict["status"] == "valid"
    if most_mib == 128:
        assert (verdict["layers"], "over-limit" in verdict["deviations"]) == (layers, False)
        assert done.peak_mib < LIMIT_MIB
    else:
        assert 0 < verdict["layers"] < layers and "over-limit" in verdict["deviations"]


def answering(pieces: Callable[[], Iterator[bytes]]) -> type[Handler]:
    """Return a handler that answers every request but that for robots.txt with a document."""

    class Document(Handler):
        protocol_version = "HTTP/1.0"  # the length is known at the end only

        def respond(self) -> None:
            if self.path == "/robots.txt":
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/xml")
            self.end_headers()
            all(self.write(piece) for piece in pieces())  # until the client has read enough

    return Document


def _bounds(number: int) -> tuple[float, float, float, float]:
    west, south = -180 + number % 3500 / 10, -85 + number % 1600 / 10
    return west, south, west + 1.5, south + 1.25


# --------------------------------------------------------------------------- the documents


def wms(layers: int, *, a_group: int = 500) -> Iterator[bytes]:
    """WMS 1.3.0 capabilities: groups of layers, each layer with its own box, reference systems and style."""
    yield (
        b'<?xml version="1.0" encoding="UTF-8"?>\n<WMS_Capabilities version="1.3.0" '
        b'xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink">\n'
        b"<Service><Name>WMS</Name><Title>All maps of the office</Title>"
        b'<OnlineResource xlink:href="http://maps.example.org/"/></Service>\n'
        b"<Capability><Request><GetMap><Format>image/png</Format></GetMap></Request>\n"
        b"<Layer><Title>All</Title><CRS>EPSG:4326</CRS><CRS>EPSG:3857</CRS>\n"
    )
    for first in range(0, layers, a_group):
        group = [f"<Layer><Title>Group {first // a_group}</Title>"]
        group += [_wms_layer(number) for number in range(first, min(first + a_group, layers))]
        yield ("".join(group) + "</Layer>\n").encode()
    yield b"</Layer></Capability></WMS_Capabilities>\n"


def _wms_layer(number: int) -> str:
    west, south, east, north = _bounds(number)
    return f"""<Layer queryable="1"><Name>layer_{number}</Name><Title>Map sheet {number}</Title>
<Abstract>Sheet {number}. {_FILL * 4}</Abstract><KeywordList><Keyword>sheet</Keyword></KeywordList>
<CRS>EPSG:25832</CRS><CRS>EPSG:25833</CRS><CRS>EPSG:3034</CRS><EX_GeographicBoundingBox>
<westBoundLongitude>{west:.6f}</westBoundLongitude><eastBoundLongitude>{east:.6f}</eastBoundLongitude>
<southBoundLatitude>{south:.6f}</southBoundLatitude><northBoundLatitude>{north:.6f}</northBoundLatitude>
</EX_GeographicBoundingBox><BoundingBox CRS="EPSG:4326" minx="{south}" miny="{west}" maxx="{north}" maxy="{east}"/>
<Style><Name>default</Name><Title>default</Title><LegendURL width="20" height="20"><Format>image/png</Format>
<OnlineResource xlink:type="simple" xlink:href="http://maps.example.org/legend?layer=layer_{number}"/></LegendURL>
</Style></Layer>
"""


def wmts(layers: int) -> Iterator[bytes]:
    """WMTS 1.0.0 capabilities: each layer with the limits of its tile matrices."""
    yield (
        b'<?xml version="1.0" encoding="UTF-8"?>\n<Capabilities version="1.0.0" '
        b'xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" '
        b'xmlns:xlink="http://www.w3.org/1999/xlink">\n'
        b"<ows:ServiceIdentification><ows:Title>All tiles of the office</ows:Title>"
        b"<ows:ServiceType>OGC WMTS</ows:ServiceType><ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>"
        b"</ows:ServiceIdentification>\n<Contents>\n"
    )
    for first in range(0, layers, 500):
        yield "".join(_wmts_layer(number) for number in range(first, min(first + 500, layers))).encode()
    yield ("".join(map(_matrix_set, ("EPSG:3857", "EPSG:25832"))) + "</Contents></Capabilities>\n").encode()


def _wmts_layer(number: int) -> str:
    west, south, east, north = _bounds(number)
    limits = "".join(
        f"<TileMatrixLimits><TileMatrix>{level}</TileMatrix><MinTileRow>{number % 2**level}</MinTileRow>"
        f"<MaxTileRow>{number % 2**level}</MaxTileRow><MinTileCol>0</MinTileCol><MaxTileCol>{2**level - 1}</MaxTileCol>"
        "</TileMatrixLimits>\n"
        for level in range(10)
    )
    return f"""<Layer><ows:Title>Tiles {number}</ows:Title><ows:Abstract>{_FILL * 3}</ows:Abstract>
<ows:WGS84BoundingBox><ows:LowerCorner>{west:.6f} {south:.6f}</ows:LowerCorner>
<ows:UpperCorner>{east:.6f} {north:.6f}</ows:UpperCorner></ows:WGS84BoundingBox>
<ows:Identifier>tiles_{number}</ows:Identifier><Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
<Format>image/png</Format><TileMatrixSetLink><TileMatrixSet>EPSG:3857</TileMatrixSet>
<TileMatrixSetLimits>{limits}</TileMatrixSetLimits></TileMatrixSetLink>
<ResourceURL format="image/png" resourceType="tile" template="http://maps.example.org/tiles_{number}/{{TileMatrix}}"/>
</Layer>
"""


def _matrix_set(code: str) -> str:
    matrices = "".join(
        f"<TileMatrix><ows:Identifier>{level}</ows:Identifier>"
        f"<ScaleDenominator>{559082264.029 / 2**level}</ScaleDenominator><TopLeftCorner>0 0</TopLeftCorner>"
        f"<TileWidth>256</TileWidth><TileHeight>256</TileHeight><MatrixWidth>{2**level}</MatrixWidth>"
        f"<MatrixHeight>{2**level}</MatrixHeight></TileMatrix>"
        for level in range(10)
    )
    name = f"<ows:Identifier>{code}</ows:Identifier><ows:SupportedCRS>{code}</ows:SupportedCRS>"
    return f"<TileMatrixSet>{name}{matrices}</TileMatrixSet>\n"
