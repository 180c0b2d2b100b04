"""Make documents of services of OWS Common: WFS 2.0, WMTS 1.0, WCS 2.0, CSW 2.0.2, WPS 1.0, SOS 2.0, SPS 2.0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from geocrawl.demo.capabilities import Described, shrunk

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


def ows_document(kind: str, described: Described) -> str:
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


def _items(described: Described) -> Iterator[tuple[str, str, str]]:
    """Yield name, title and box (OGC 06-121r9, 10.2) of each item."""
    for number, (name, title) in enumerate(described.layers):
        west, south, east, north = shrunk(described.box, number)
        corners = f"<ows:LowerCorner>{west} {south}</ows:LowerCorner><ows:UpperCorner>{east} {north}</ows:UpperCorner>"
        yield escape(name), escape(title), f"<ows:WGS84BoundingBox>{corners}</ows:WGS84BoundingBox>"


def _systems(described: Described) -> Iterable[str]:
    return ("urn:ogc:def:crs:" + system.replace(":", "::") for system in described.systems)


def _feature_types(described: Described) -> str:
    first, *others = _systems(described)
    systems = f"<DefaultCRS>{first}</DefaultCRS>" + "".join(f"<OtherCRS>{each}</OtherCRS>" for each in others)
    types = (
        f"<FeatureType><Name>demo:{name}</Name><Title>{title}</Title>{systems}{box}</FeatureType>"
        for name, title, box in _items(described)
    )
    return f"<FeatureTypeList>{''.join(types)}</FeatureTypeList>"


def _tile_layers(described: Described) -> str:
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


def _coverages(described: Described) -> str:
    found = (
        f"<CoverageSummary><ows:Title>{title}</ows:Title>{box}<CoverageId>{name}</CoverageId>"
        "<CoverageSubtype>RectifiedGridCoverage</CoverageSubtype></CoverageSummary>"
        for name, title, box in _items(described)
    )
    systems = "".join(f"<crs:crsSupported>{each}</crs:crsSupported>" for each in _systems(described))
    extension = f"<Extension><crs:CrsMetadata>{systems}</crs:CrsMetadata></Extension>"
    formats = "".join(
        f"<formatSupported>{each}</formatSupported>" for each in ("image/png", "image/tiff", "application/netcdf")
    )
    return f"<ServiceMetadata>{formats}{extension}</ServiceMetadata><Contents>{''.join(found)}</Contents>"


def _filters(_: Described) -> str:
    return (
        "<ogc:Filter_Capabilities><ogc:Spatial_Capabilities><ogc:GeometryOperands><ogc:GeometryOperand>gml:Envelope"
        '</ogc:GeometryOperand></ogc:GeometryOperands><ogc:SpatialOperators><ogc:SpatialOperator name="BBOX"/>'
        "</ogc:SpatialOperators></ogc:Spatial_Capabilities><ogc:Scalar_Capabilities><ogc:LogicalOperators/>"
        "</ogc:Scalar_Capabilities><ogc:Id_Capabilities><ogc:EID/></ogc:Id_Capabilities></ogc:Filter_Capabilities>"
    )


def _processes(described: Described) -> str:
    found = (
        f'<wps:Process wps:processVersion="1.0"><ows:Identifier>{name}</ows:Identifier><ows:Title>{title}</ows:Title>'
        "</wps:Process>"
        for name, title, _ in _items(described)
    )
    return f"<wps:ProcessOfferings>{''.join(found)}</wps:ProcessOfferings>"


def _observations(described: Described) -> str:
    return (
        f"<sos:contents><sos:Contents>{''.join(_offerings(described, 'sos:Observation'))}</sos:Contents></sos:contents>"
    )


def _sensors(described: Described) -> str:
    offerings = "".join(_offerings(described, "sps:Sensor"))
    return f"<sps:contents><sps:SPSContents>{offerings}</sps:SPSContents></sps:contents>"


def _offerings(described: Described, form: str) -> Iterator[str]:
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
_FORMS: Mapping[str, tuple[str, str, str, str, str, str, Callable[[Described], str]]] = {
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


def feature(described: Described, name: str) -> str:
    """Return a collection of WFS 2.0 with one feature, a point in the middle of the extent."""
    west, south, east, north = described.box
    point = f"{round((south + north) / 2, 4)} {round((west + east) / 2, 4)}"
    local = name.removeprefix("demo:") or "feature"
    geometry = f'<gml:Point srsName="urn:ogc:def:crs:EPSG::4326" gml:id="p1"><gml:pos>{point}</gml:pos></gml:Point>'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" '
        'xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:demo="http://demo.example/features" numberMatched="1" '
        f'numberReturned="1">\n<wfs:member><demo:{local} gml:id="{local}.1"><demo:geometry>{geometry}</demo:geometry>'
        f"</demo:{local}></wfs:member>\n</wfs:FeatureCollection>\n"
    )


def coverage(described: Described, name: str) -> str | None:
    """Return the description of a coverage of WCS 2.0 (OGC 09-110r4, 8.3); None for one that the service has not."""
    number = next((number for number, (each, _) in enumerate(described.layers) if each == name), None)
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
