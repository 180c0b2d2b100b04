"""Make documents of OGC services that are asked by query: WMS 1.1.1 (OGC 01-068r3) and 1.3.0 (06-042), WFS 2.0,
WMTS 1.0, WCS 2.0, CSW 2.0.2, WPS 1.0, SOS 2.0, SPS 2.0; exceptions, features and records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

Box = tuple[float, float, float, float]
"""West, south, east, north in degrees."""
HALF_M = math.pi * 6_378_137.0
"""Half the width of the earth in Web Mercator, in metres."""


@dataclass(frozen=True, slots=True)
class CapabilitiesContents:
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


def capabilities(described: CapabilitiesContents, version: str, *, encoding: str = "UTF-8") -> str:
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


def _layers(described: CapabilitiesContents, *, new: bool) -> str:
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


def tile_sets(described: CapabilitiesContents) -> str:
    """Return capabilities of WMS 1.1.1 with tile sets (WMS Tiling Client Recommendation)."""
    west, south, east, north = described.box
    sets = "".join(
        f'<TileSet><SRS>EPSG:4326</SRS><BoundingBox SRS="EPSG:4326" minx="{west}" miny="{south}" maxx="{east}" '
        f'maxy="{north}"/><Resolutions>0.02 0.01 0.005</Resolutions><Width>256</Width><Height>256</Height>'
        f"<Format>image/png</Format><Layers>{name}</Layers><Styles/></TileSet>"
        for name, _ in described.layers
    )
    text = capabilities(described, "1.1.1")
    return text.replace(
        "</Exception>\n", f"</Exception>\n<VendorSpecificCapabilities>{sets}</VendorSpecificCapabilities>\n"
    )


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


# --------------------------------------------------------------------------- OWS Common


_OWS_11, _OWS_20 = "http://www.opengis.net/ows/1.1", "http://www.opengis.net/ows/2.0"
_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<{root} version="{version}" xmlns:ows="{ows}" xmlns:xlink="http://www.w3.org/1999/xlink" {namespaces}>
<ows:ServiceIdentification>
  <ows:Title>{title}</ows:Title>
  <ows:Abstract>{abstract}</ows:Abstract>
  <ows:Keywords>{keywords}</ows:Keywords>
  <ows:ServiceType>{type}</ows:ServiceType>
  <ows:ServiceTypeVersion>{version}</ows:ServiceTypeVersion>
  <ows:Fees>none</ows:Fees>
  <ows:AccessConstraints>{licence}</ows:AccessConstraints>
</ows:ServiceIdentification>
<ows:ServiceProvider>
  <ows:ProviderName>{provider}</ows:ProviderName>
  <ows:ServiceContact><ows:IndividualName>Map desk</ows:IndividualName><ows:ContactInfo><ows:Address>\
<ows:ElectronicMailAddress>{mail}</ows:ElectronicMailAddress></ows:Address></ows:ContactInfo></ows:ServiceContact>
</ows:ServiceProvider>
<ows:OperationsMetadata>{operations}</ows:OperationsMetadata>
{contents}
</{root}>
"""
_MATRIX = (
    "<TileMatrix><ows:Identifier>{level}</ows:Identifier><ScaleDenominator>{scale}</ScaleDenominator>"
    "<TopLeftCorner>-20037508.3427892 20037508.3427892</TopLeftCorner><TileWidth>256</TileWidth>"
    "<TileHeight>256</TileHeight><MatrixWidth>{tiles}</MatrixWidth><MatrixHeight>{tiles}</MatrixHeight></TileMatrix>"
)
_SCALE = 559082264.0287178
"""Scale denominator of level 0 of GoogleMapsCompatible (OGC 07-057r7, annex E.4)."""
LEVELS = 13


def ows_document(kind: str, described: CapabilitiesContents) -> str:
    """Return the capabilities of a service of a kind."""
    version, root, ows, namespaces, service, operations, contents = _FORMS[kind]
    return _DOCUMENT.format(
        root=root,
        version=version,
        ows=ows,
        namespaces=namespaces,
        title=escape(described.title),
        abstract=escape(described.abstract),
        keywords="".join(f"<ows:Keyword>{escape(word)}</ows:Keyword>" for word in described.keywords),
        type=service,
        licence=escape(described.licence),
        provider=escape(described.provider),
        mail=described.mail,
        operations="".join(_operation(name, described.address) for name in ("GetCapabilities", *operations.split())),
        contents=contents(described),
    )


def _operation(name: str, address: str) -> str:
    get = f"<ows:DCP><ows:HTTP><ows:Get xlink:href={quoteattr(address)}/></ows:HTTP></ows:DCP>"
    return f'<ows:Operation name="{name}">{get}</ows:Operation>'


def _items(described: CapabilitiesContents) -> Iterator[tuple[str, str, str]]:
    """Yield name, title and box (OGC 06-121r9, 10.2) of each item."""
    for number, (name, title) in enumerate(described.layers):
        west, south, east, north = shrunk(described.box, number)
        corners = f"<ows:LowerCorner>{west} {south}</ows:LowerCorner><ows:UpperCorner>{east} {north}</ows:UpperCorner>"
        yield escape(name), escape(title), f"<ows:WGS84BoundingBox>{corners}</ows:WGS84BoundingBox>"


def _systems(described: CapabilitiesContents) -> Iterable[str]:
    return ("urn:ogc:def:crs:" + system.replace(":", "::") for system in described.systems)


def _feature_types(described: CapabilitiesContents) -> str:
    first, *others = _systems(described)
    systems = f"<DefaultCRS>{first}</DefaultCRS>" + "".join(f"<OtherCRS>{other}</OtherCRS>" for other in others)
    types = (
        f"<FeatureType><Name>demo:{name}</Name><Title>{title}</Title>{systems}{box}</FeatureType>"
        for name, title, box in _items(described)
    )
    return f"<FeatureTypeList>{''.join(types)}</FeatureTypeList>"


def _tile_layers(described: CapabilitiesContents) -> str:
    layers = (
        f"<Layer><ows:Title>{title}</ows:Title>{box}<ows:Identifier>{name}</ows:Identifier>"
        '<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style><Format>image/png</Format>'
        "<TileMatrixSetLink><TileMatrixSet>GoogleMapsCompatible</TileMatrixSet></TileMatrixSetLink></Layer>"
        for name, title, box in _items(described)
    )
    matrices = (_MATRIX.format(level=n, scale=_SCALE / 2**n, tiles=2**n) for n in range(LEVELS))
    return (
        f"<Contents>{''.join(layers)}<TileMatrixSet><ows:Identifier>GoogleMapsCompatible</ows:Identifier>"
        f"<ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>{''.join(matrices)}</TileMatrixSet></Contents>"
    )


def _coverages(described: CapabilitiesContents) -> str:
    coverages = (
        f"<CoverageSummary><ows:Title>{title}</ows:Title>{box}<CoverageId>{name}</CoverageId>"
        "<CoverageSubtype>RectifiedGridCoverage</CoverageSubtype></CoverageSummary>"
        for name, title, box in _items(described)
    )
    systems = "".join(f"<crs:crsSupported>{system}</crs:crsSupported>" for system in _systems(described))
    extension = f"<Extension><crs:CrsMetadata>{systems}</crs:CrsMetadata></Extension>"
    formats = "".join(
        f"<formatSupported>{item}</formatSupported>" for item in ("image/png", "image/tiff", "application/netcdf")
    )
    return f"<ServiceMetadata>{formats}{extension}</ServiceMetadata><Contents>{''.join(coverages)}</Contents>"


def _filters(_: CapabilitiesContents) -> str:
    return (
        "<ogc:Filter_Capabilities><ogc:Spatial_Capabilities><ogc:GeometryOperands><ogc:GeometryOperand>gml:Envelope"
        '</ogc:GeometryOperand></ogc:GeometryOperands><ogc:SpatialOperators><ogc:SpatialOperator name="BBOX"/>'
        "</ogc:SpatialOperators></ogc:Spatial_Capabilities><ogc:Scalar_Capabilities><ogc:LogicalOperators/>"
        "</ogc:Scalar_Capabilities><ogc:Id_Capabilities><ogc:EID/></ogc:Id_Capabilities></ogc:Filter_Capabilities>"
    )


def _processes(described: CapabilitiesContents) -> str:
    processes = (
        f'<wps:Process wps:processVersion="1.0"><ows:Identifier>{name}</ows:Identifier><ows:Title>{title}</ows:Title>'
        "</wps:Process>"
        for name, title, _ in _items(described)
    )
    return f"<wps:ProcessOfferings>{''.join(processes)}</wps:ProcessOfferings>"


def _observations(described: CapabilitiesContents) -> str:
    return (
        f"<sos:contents><sos:Contents>{''.join(_offerings(described, 'sos:Observation'))}</sos:Contents></sos:contents>"
    )


def _sensors(described: CapabilitiesContents) -> str:
    offerings = "".join(_offerings(described, "sps:Sensor"))
    return f"<sps:contents><sps:SPSContents>{offerings}</sps:SPSContents></sps:contents>"


def _offerings(described: CapabilitiesContents, form: str) -> Iterator[str]:
    """Yield the offerings of SOS 2.0 (OGC 12-006, 7.1) and SPS 2.0, whose envelopes have latitude first."""
    for number, (name, title) in enumerate(described.layers):
        west, south, east, north = shrunk(described.box, number)
        envelope = (
            '<gml:Envelope srsName="http://www.opengis.net/def/crs/EPSG/0/4326">'
            f"<gml:lowerCorner>{south} {west}</gml:lowerCorner><gml:upperCorner>{north} {east}</gml:upperCorner>"
            "</gml:Envelope>"
        )
        yield (
            f"<swes:offering><{form}Offering><swes:identifier>{escape(name)}</swes:identifier><swes:name>{escape(title)}"
            f"</swes:name><sos:observedArea>{envelope}</sos:observedArea></{form}Offering></swes:offering>"
        )


_SWES = (
    'xmlns:sos="http://www.opengis.net/sos/2.0" xmlns:sps="http://www.opengis.net/sps/2.0" '
    'xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:gml="http://www.opengis.net/gml/3.2"'
)
_FORMS: Mapping[str, tuple[str, str, str, str, str, str, Callable[[CapabilitiesContents], str]]] = {
    "wfs": (
        "2.0.0",
        "WFS_Capabilities",
        _OWS_11,
        'xmlns="http://www.opengis.net/wfs/2.0" xmlns:demo="http://demo.example/features"',
        "WFS",
        "DescribeFeatureType GetFeature",
        _feature_types,
    ),
    "wmts": (
        "1.0.0",
        "Capabilities",
        _OWS_11,
        'xmlns="http://www.opengis.net/wmts/1.0"',
        "OGC WMTS",
        "GetTile",
        _tile_layers,
    ),
    "wcs": (
        "2.0.1",
        "Capabilities",
        _OWS_20,
        'xmlns="http://www.opengis.net/wcs/2.0" xmlns:crs="http://www.opengis.net/wcs/service-extension/crs/1.0"',
        "OGC WCS",
        "DescribeCoverage GetCoverage",
        _coverages,
    ),
    "csw": (
        "2.0.2",
        "csw:Capabilities",
        "http://www.opengis.net/ows",
        'xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:ogc="http://www.opengis.net/ogc"',
        "CSW",
        "DescribeRecord GetRecords GetRecordById",
        _filters,
    ),
    "wps": (
        "1.0.0",
        "wps:Capabilities",
        _OWS_11,
        'service="WPS" xmlns:wps="http://www.opengis.net/wps/1.0.0"',
        "WPS",
        "DescribeProcess Execute",
        _processes,
    ),
    "sos": ("2.0.0", "sos:Capabilities", _OWS_11, _SWES, "OGC:SOS", "DescribeSensor GetObservation", _observations),
    "sps": ("2.0.0", "sps:Capabilities", _OWS_11, _SWES, "SPS", "DescribeTasking Submit", _sensors),
}
"""Kind → version, root, namespace of OWS Common, other namespaces, service type, operations, maker of the contents."""


def mercator(box: Box) -> Box:
    """Return degrees as metres of Web Mercator."""
    west, south, east, north = box

    def y(latitude: float) -> float:
        return round(math.log(math.tan(math.pi / 4 + math.radians(latitude) / 2)) * HALF_M / math.pi, 2)

    return round(west / 180 * HALF_M, 2), y(south), round(east / 180 * HALF_M, 2), y(north)


def feature(described: CapabilitiesContents, asked: Mapping[str, str]) -> str:
    """Return a collection of WFS 2.0 with one feature, a point in the middle of the extent, in Web Mercator where the
    parameters of the request name it, else in degrees."""
    west, south, east, north = described.box
    middle = (west + east) / 2, (south + north) / 2
    code, point = "4326", f"{round(middle[1], 4)} {round(middle[0], 4)}"
    if asked.get("srsname", "").endswith("3857"):
        x, y, _, _ = mercator((*middle, *middle))
        code, point = "3857", f"{x} {y}"
    local = asked.get("typenames", "").removeprefix("demo:") or "feature"
    geometry = f'<gml:Point srsName="urn:ogc:def:crs:EPSG::{code}" gml:id="p1"><gml:pos>{point}</gml:pos></gml:Point>'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" '
        'xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:demo="http://demo.example/features" numberMatched="1" '
        f'numberReturned="1">\n<wfs:member><demo:{local} gml:id="{local}.1"><demo:geometry>{geometry}</demo:geometry>'
        f"</demo:{local}></wfs:member>\n</wfs:FeatureCollection>\n"
    )


def feature_type(names: str) -> str:
    """Return the schema of types of features (WFS 2.0, 9): each has a point."""
    types = "".join(
        f'<element name="{name}" type="demo:{name}Type" substitutionGroup="gml:AbstractFeature"/>\n'
        f'<complexType name="{name}Type"><complexContent><extension base="gml:AbstractFeatureType"><sequence>'
        '<element name="geometry" type="gml:PointPropertyType"/>'
        "</sequence></extension></complexContent></complexType>\n"
        for name in (each.removeprefix("demo:") for each in escape(names, {'"': ""}).split(","))
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<schema xmlns="http://www.w3.org/2001/XMLSchema" '
        'xmlns:demo="http://demo.example/features" xmlns:gml="http://www.opengis.net/gml/3.2" '
        f'targetNamespace="http://demo.example/features" elementFormDefault="qualified">\n{types}</schema>\n'
    )


def coverage(described: CapabilitiesContents, name: str) -> str | None:
    """Return the description of a coverage of WCS 2.0 (OGC 09-110r4, 8.3); None for one that the service has not."""
    number = next((number for number, (known, _) in enumerate(described.layers) if known == name), None)
    if number is None:
        return None
    west, south, east, north = shrunk(described.box, number)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<CoverageDescriptions xmlns="http://www.opengis.net/wcs/2.0" '
        'xmlns:gml="http://www.opengis.net/gml/3.2">\n'
        f"<CoverageDescription gml:id={quoteattr(name)}><gml:boundedBy>"
        '<gml:Envelope srsName="http://www.opengis.net/def/crs/EPSG/0/4326" axisLabels="Lat Long" srsDimension="2">'
        f"<gml:lowerCorner>{south} {west}</gml:lowerCorner><gml:upperCorner>{north} {east}</gml:upperCorner>"
        f"</gml:Envelope></gml:boundedBy><CoverageId>{escape(name)}</CoverageId></CoverageDescription>\n"
        "</CoverageDescriptions>\n"
    )


def records(kept: Iterable[tuple[str, str, str]]) -> str:
    """Return the answer of CSW 2.0.2 to GetRecords; `kept` has identifier, title and address of each record."""
    found = [
        f"<csw:Record><dc:identifier>{escape(name)}</dc:identifier><dc:title>{escape(title)}</dc:title>"
        f"<dc:type>service</dc:type><dct:references>{escape(address)}</dct:references></csw:Record>"
        for name, title, address in kept
    ]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<csw:GetRecordsResponse version="2.0.2" '
        'xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dct="http://purl.org/dc/terms/">\n<csw:SearchStatus timestamp="2024-05-17T00:00:00Z"/>\n'
        f'<csw:SearchResults numberOfRecordsMatched="{len(found)}" numberOfRecordsReturned="{len(found)}" '
        f'nextRecord="0" elementSet="summary">{"".join(found)}</csw:SearchResults>\n</csw:GetRecordsResponse>\n'
    )
