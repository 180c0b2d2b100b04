"""Capabilities as large as some servers' are, probed by geocrawl: seconds, peak memory, and what was read of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.support.loopback import Handler, Server, running
from tests.support.processes import clean_environment, geocrawl, run

MIB = 2**20
_LIMIT_S = 600
LIMIT_MIB = 300
"""Peak memory of the whole process for a document that is read whole."""
_FILL = "Described at the length that data offices like to have it described. "


@dataclass(frozen=True, slots=True)
class Case:
    """A generated document and what is to be read of it."""

    name: str
    kind: str
    pieces: Callable[[], Iterator[bytes]]
    layers: int
    """In the document; all of them are to be read of one that is whole."""
    whole: bool = True
    limit_mib: int = 128
    """Longest document that is read (`probe_body_bytes`)."""


def cases() -> tuple[Case, ...]:
    """A WMTS of 100 MB, a WMS of 50,000 layers, and one longer than the limit of 128 MiB."""
    return (
        Case("WMTS of 100 MB", "wmts", lambda: wmts(40_000), 40_000),
        Case("WMS of 50,000 layers", "wms", lambda: wms(50_000), 50_000),
        Case("WMS over the limit", "wms", lambda: wms(140_000), 140_000, whole=False),
    )


def small_cases() -> tuple[Case, ...]:
    """Return the cases for a test: the document over the limit, and the limit, are a quarter as long."""
    *whole, over = cases()
    return (*whole, replace(over, pieces=lambda: wms(35_000), layers=35_000, limit_mib=over.limit_mib // 4))


def measure(case: Case) -> dict[str, Any]:
    """Figures of one document."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-big-") as temporary, served(case) as (url, sent):
        command = geocrawl("probe", url, "--kind", case.kind, "--json", "--allow-private", "--delay", "0")
        done = run(command, env=_environment(Path(temporary), case), limit_s=_LIMIT_S)
    if not done.stdout:
        raise SystemExit(f"{case.name}: the probe ended with {done.exit_code}: {done.stderr[-2000:]}")
    line = json.loads(done.stdout.splitlines()[0])
    noted = "over-limit" in line["deviations"]
    read = line["layers"] == case.layers if case.whole else 0 < line["layers"] < case.layers
    return {
        "case": case.name,
        "document_mb": round(max(sent) / 1e6, 1),
        "layers": case.layers,
        "layers_read": line["layers"],
        "status": line["status"],
        "deviations": line["deviations"],
        "wall_s": done.wall_s,
        "cpu_s": done.cpu_s,
        "peak_mib": done.peak_mib,
        "as_promised": line["status"] == "valid"
        and read
        and noted != case.whole
        and (done.peak_mib < LIMIT_MIB or not case.whole),
    }


def _environment(home: Path, case: Case) -> dict[str, str]:
    """Return settings under which only the length of a document ends its reading, however slow the machine is."""
    times = dict.fromkeys(("READ_TIMEOUT", "TOTAL_TIMEOUT", "READING_TIME"), _LIMIT_S)
    limits = {**times, "PROBE_BODY": case.limit_mib * MIB}
    return clean_environment(home, **{f"GEOCRAWL_{name}": str(value) for name, value in limits.items()})


@contextmanager
def served(case: Case) -> Iterator[tuple[str, list[int]]]:
    """A server on loopback that answers every request with the document; yields its address and bytes sent so far."""
    sent: list[int] = [0]

    class Document(Handler):
        protocol_version = "HTTP/1.0"  # the length is known at the end only

        def respond(self) -> None:
            if self.path == "/robots.txt":
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/xml")
            self.end_headers()
            sent.append(0)
            try:
                for piece in case.pieces():
                    self.wfile.write(piece)
                    sent[-1] += len(piece)
            except OSError:
                self.close_connection = True  # it has read enough

    with running(Server(Document)) as server:
        yield f"http://127.0.0.1:{server.server_port}/ows", sent


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
