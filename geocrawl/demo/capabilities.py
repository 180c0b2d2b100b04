"""Make capabilities documents (WMS 1.1.1: OGC 01-068r3, WMS 1.3.0: OGC 06-042), exceptions and map images."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

Box = tuple[float, float, float, float]
"""West, south, east, north in degrees."""


@dataclass(frozen=True, slots=True)
class Described:
    """The contents of a capabilities document."""

    title: str
    abstract: str
    keywords: tuple[str, ...]
    provider: str
    address: str
    """OnlineResource of the requests."""
    layers: tuple[tuple[str, str], ...]
    """(name, title) of each layer."""
    box: Box
    systems: tuple[str, ...] = ("EPSG:4326", "EPSG:3857")
    licence: str = "none"
    mail: str = "maps@demo.example"


_HEAD_130 = """<?xml version="1.0" encoding="{encoding}"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.opengis.net/wms \
http://schemas.opengis.net/wms/1.3.0/capabilities_1_3_0.xsd">
"""
_HEAD_111 = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd">
<WMT_MS_Capabilities version="1.1.1">
"""
_ONLINE = '<OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:href={address}/>'
_SERVICE = """<Service>
  <Name>{name}</Name>
  <Title>{title}</Title>
  <Abstract>{abstract}</Abstract>
  <KeywordList>{keywords}</KeywordList>
  {online}
  <ContactInformation><ContactPersonPrimary><ContactPerson>Map desk</ContactPerson>\
<ContactOrganization>{provider}</ContactOrganization></ContactPersonPrimary></ContactInformation>
  <Fees>none</Fees>
  <AccessConstraints>none</AccessConstraints>
</Service>
"""
_EXCEPTION_130 = """<?xml version="1.0" encoding="UTF-8"?>
<ServiceExceptionReport version="1.3.0" xmlns="http://www.opengis.net/ogc">
  <ServiceException code={code}>{text}</ServiceException>
</ServiceExceptionReport>
"""


def capabilities(described: Described, version: str, *, encoding: str = "UTF-8") -> str:
    """Return the document of version 1.1.1 or 1.3.0 as text; `encoding` is declared in its first line."""
    new = version == "1.3.0"
    online = _ONLINE.format(address=quoteattr(described.address))
    service = _SERVICE.format(
        name="WMS" if new else "OGC:WMS",
        title=escape(described.title),
        abstract=escape(described.abstract),
        keywords="".join(f"<Keyword>{escape(word)}</Keyword>" for word in described.keywords),
        online=online,
        provider=escape(described.provider),
    )
    http = f"<DCPType><HTTP><Get>{online}</Get></HTTP></DCPType>"
    document_type, exception_type = (
        ("text/xml", "XML") if new else ("application/vnd.ogc.wms_xml", "application/vnd.ogc.se_xml")
    )
    requests = (
        f"<GetCapabilities><Format>{document_type}</Format>{http}</GetCapabilities>"
        f"<GetMap><Format>image/png</Format><Format>image/jpeg</Format>{http}</GetMap>"
    )
    root = (_HEAD_130 if new else _HEAD_111).format(encoding=encoding)
    end = "</WMS_Capabilities>" if new else "</WMT_MS_Capabilities>"
    return (
        f"{root}{service}<Capability>\n  <Request>{requests}</Request>\n"
        f"  <Exception><Format>{exception_type}</Format></Exception>\n"
        f"{_layers(described, new=new)}</Capability>\n{end}\n"
    )


def _layers(described: Described, *, new: bool) -> str:
    """Return a group with the reference systems and the box, and the layers in it."""
    system = "CRS" if new else "SRS"
    systems = (*described.systems, "CRS:84") if new else described.systems
    listed = "".join(f"<{system}>{name}</{system}>" for name in systems)
    children = "\n".join(
        f'    <Layer queryable="1"><Name>{escape(name)}</Name><Title>{escape(title)}</Title>'
        f"{_box(described.box, number, new=new)}<Style><Name>default</Name><Title>Default</Title></Style></Layer>"
        for number, (name, title) in enumerate(described.layers)
    )
    head = f"<Title>{escape(described.title)}</Title>{listed}{_box(described.box, 0, new=new)}"
    return f"  <Layer>{head}\n{children}\n  </Layer>\n"


def shrunk(box: Box, number: int) -> Box:
    """Return the extent, a little smaller for each further layer, so that boxes differ."""
    west, south, east, north = (
        round(edge + sign * 0.01 * number, 4) for edge, sign in zip(box, (1, 1, -1, -1), strict=True)
    )
    return west, south, east, north


def _box(box: Box, number: int, *, new: bool) -> str:
    """Return the elements of a layer's extent."""
    west, south, east, north = shrunk(box, number)
    if new:
        return (
            f"<EX_GeographicBoundingBox><westBoundLongitude>{west}</westBoundLongitude><eastBoundLongitude>{east}"
            f"</eastBoundLongitude><southBoundLatitude>{south}</southBoundLatitude><northBoundLatitude>{north}"
            "</northBoundLatitude></EX_GeographicBoundingBox>"
            # WMS 1.3.0, 6.7.3.2: EPSG:4326 has latitude first.
            f'<BoundingBox CRS="EPSG:4326" minx="{south}" miny="{west}" maxx="{north}" maxy="{east}"/>'
        )
    edges = f'minx="{west}" miny="{south}" maxx="{east}" maxy="{north}"'
    return f'<LatLonBoundingBox {edges}/><BoundingBox SRS="EPSG:4326" {edges}/>'


def exception(text: str, code: str = "OperationNotSupported") -> str:
    """Return a ServiceExceptionReport."""
    return _EXCEPTION_130.format(code=quoteattr(code), text=escape(text))


def picture(width: int, height: int, shade: int) -> bytes:
    """Return a PNG with stripes of two colours; `shade`, 0…255, makes services and places differ."""
    dark, light = bytes((shade, 96, 160)), bytes((240, shade, 200))
    rows: Sequence[bytes] = [b"\0" + (dark if y // 8 % 2 else light) * width for y in range(height)]

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits a channel, RGB
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"".join(rows)))
        + chunk(b"IEND", b"")
    )
