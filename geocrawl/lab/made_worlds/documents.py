"""Make the answers of services to GetCapabilities, by their standards, and metadata about services."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from geocrawl.demo.capabilities import Box, Described, capabilities
from geocrawl.lab.made_worlds.parts import Service
from geocrawl.lab.made_worlds.seeded_random import seeded_rng
from geocrawl.model.kinds import facts_of

_OWS = """<ows:ServiceIdentification><ows:Title>{title}</ows:Title><ows:Abstract>{abstract}</ows:Abstract>
<ows:ServiceType>{type}</ows:ServiceType><ows:ServiceTypeVersion>{version}</ows:ServiceTypeVersion>
</ows:ServiceIdentification>
<ows:ServiceProvider><ows:ProviderName>{provider}</ows:ProviderName><ows:ServiceContact/></ows:ServiceProvider>
<ows:OperationsMetadata>{operations}</ows:OperationsMetadata>
"""
_OPERATION = (
    '<ows:Operation name="{name}"><ows:DCP><ows:HTTP><ows:Get xlink:href={address}/></ows:HTTP></ows:DCP>'
    "</ows:Operation>"
)
_XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'


def document(service: Service, seed: int) -> str:
    """Return the document of a service as text: XML, or JSON for REST services."""
    rng = seeded_rng("document", seed, service.id)
    return _MAKERS[service.kind](service, rng)


def suffix(service: Service) -> str:
    """Return the suffix of the service's file: .xml or .json."""
    return ".json" if facts_of(service.kind).by_path else ".xml"


def layers(service: Service) -> tuple[tuple[str, str], ...]:
    """Return (name, title) of the service's layers: one to six of the site's data sets."""
    rng = seeded_rng("layers", service.id, service.base)
    titles = rng.sample(service.site.words.titles, min(rng.randint(1, 6), len(service.site.words.titles)))
    titles = [service.title, *(title for title in titles if title != service.title)]
    return tuple((f"{service.site.theme.name}_{number}", title) for number, title in enumerate(titles))


def _box(rng: random.Random) -> Box:
    west, south = round(rng.uniform(-120, 140), 3), round(rng.uniform(-40, 60), 3)
    return west, south, round(west + rng.uniform(0.5, 9), 3), round(south + rng.uniform(0.5, 9), 3)


def _abstract(service: Service, rng: random.Random) -> str:
    nouns = rng.sample(service.site.words.nouns, 4)
    return f"{service.title}: {', '.join(nouns)}"


def _wms(service: Service, rng: random.Random) -> str:
    described = Described(
        title=service.title,
        abstract=_abstract(service, rng),
        keywords=tuple(rng.sample(service.site.words.nouns, 3)),
        provider=service.site.names.organisation,
        address=service.base,
        layers=layers(service),
        box=_box(rng),
    )
    return capabilities(described, rng.choice(("1.1.1", "1.3.0")))


def _ows(service: Service, rng: random.Random, kind: str, version: str, operations: tuple[str, ...]) -> str:
    return _OWS.format(
        title=escape(service.title),
        abstract=escape(_abstract(service, rng)),
        type=kind,
        version=version,
        provider=escape(service.site.names.organisation),
        operations="".join(_OPERATION.format(name=name, address=quoteattr(service.base)) for name in operations),
    )


def _wfs(service: Service, rng: random.Random) -> str:
    """Return capabilities of WFS 2.0 (OGC 09-025r2, 8.3)."""
    head = _ows(service, rng, "WFS", "2.0.0", ("GetCapabilities", "DescribeFeatureType", "GetFeature"))
    types = "".join(
        f"<FeatureType><Name>made:{name}</Name><Title>{escape(title)}</Title>"
        "<DefaultCRS>urn:ogc:def:crs:EPSG::4326</DefaultCRS></FeatureType>"
        for name, title in layers(service)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<WFS_Capabilities version="2.0.0" '
        f'xmlns="http://www.opengis.net/wfs/2.0" xmlns:ows="http://www.opengis.net/ows/1.1" {_XLINK} '
        f'xmlns:made="http://made.example/ns">\n{head}<FeatureTypeList>{types}</FeatureTypeList>\n</WFS_Capabilities>\n'
    )


def _wmts(service: Service, rng: random.Random) -> str:
    """Return capabilities of WMTS 1.0 (OGC 07-057r7, 7.1)."""
    head = _ows(service, rng, "OGC WMTS", "1.0.0", ("GetCapabilities", "GetTile"))
    found = "".join(
        f"<Layer><ows:Title>{escape(title)}</ows:Title><ows:Identifier>{name}</ows:Identifier>"
        '<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style><Format>image/png</Format>'
        "<TileMatrixSetLink><TileMatrixSet>grid</TileMatrixSet></TileMatrixSetLink></Layer>"
        for name, title in layers(service)
    )
    matrix = (
        "<TileMatrixSet><ows:Identifier>grid</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857"
        "</ows:SupportedCRS><TileMatrix><ows:Identifier>0</ows:Identifier><ScaleDenominator>559082264.0287178"
        "</ScaleDenominator><TopLeftCorner>-20037508.34 20037508.34</TopLeftCorner><TileWidth>256</TileWidth>"
        "<TileHeight>256</TileHeight><MatrixWidth>1</MatrixWidth><MatrixHeight>1</MatrixHeight></TileMatrix>"
        "</TileMatrixSet>"
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Capabilities version="1.0.0" '
        f'xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" {_XLINK}>\n'
        f"{head}<Contents>{found}{matrix}</Contents>\n</Capabilities>\n"
    )


def _wcs(service: Service, rng: random.Random) -> str:
    """Return capabilities of WCS 2.0 (OGC 09-110r4, 8.2)."""
    head = _ows(service, rng, "OGC WCS", "2.0.1", ("GetCapabilities", "DescribeCoverage", "GetCoverage"))
    found = "".join(
        f"<wcs:CoverageSummary><wcs:CoverageId>{name}</wcs:CoverageId><wcs:CoverageSubtype>RectifiedGridCoverage"
        "</wcs:CoverageSubtype></wcs:CoverageSummary>"
        for name, _ in layers(service)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<wcs:Capabilities version="2.0.1" '
        f'xmlns:wcs="http://www.opengis.net/wcs/2.0" xmlns:ows="http://www.opengis.net/ows/2.0" {_XLINK}>\n{head}'
        "<wcs:ServiceMetadata><wcs:formatSupported>image/tiff</wcs:formatSupported></wcs:ServiceMetadata>"
        f"<wcs:Contents>{found}</wcs:Contents>\n</wcs:Capabilities>\n"
    )


def _csw(service: Service, rng: random.Random) -> str:
    """Return capabilities of CSW 2.0.2 (OGC 07-006r1, 10.4)."""
    head = _ows(service, rng, "CSW", "2.0.2", ("GetCapabilities", "DescribeRecord", "GetRecords", "GetRecordById"))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<csw:Capabilities version="2.0.2" '
        'xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:ows="http://www.opengis.net/ows" '
        f'xmlns:ogc="http://www.opengis.net/ogc" {_XLINK}>\n{head}<ogc:Filter_Capabilities><ogc:Spatial_Capabilities>'
        "<ogc:GeometryOperands><ogc:GeometryOperand>gml:Envelope</ogc:GeometryOperand></ogc:GeometryOperands>"
        '<ogc:SpatialOperators><ogc:SpatialOperator name="BBOX"/></ogc:SpatialOperators></ogc:Spatial_Capabilities>'
        "<ogc:Scalar_Capabilities><ogc:LogicalOperators/></ogc:Scalar_Capabilities><ogc:Id_Capabilities><ogc:EID/>"
        "</ogc:Id_Capabilities></ogc:Filter_Capabilities>\n</csw:Capabilities>\n"
    )


def _arcgis(service: Service, rng: random.Random) -> str:
    """Return a MapServer resource of the ArcGIS REST API."""
    west, south, east, north = _box(rng)
    reference = {"wkid": 4326, "latestWkid": 4326}
    extent = {"xmin": west, "ymin": south, "xmax": east, "ymax": north, "spatialReference": reference}
    found = [{"id": n, "name": title, "parentLayerId": -1} for n, (_, title) in enumerate(layers(service))]
    return _json(
        currentVersion=rng.choice((10.31, 10.81, 11.1)),
        serviceDescription=_abstract(service, rng),
        mapName=service.title,
        capabilities="Map,Query,Data",
        layers=found,
        tables=[],
        spatialReference=reference,
        fullExtent=extent,
        supportedImageFormatTypes="PNG32,PNG24,JPG",
    )


def _ogcapi(service: Service, rng: random.Random) -> str:
    """Return a landing page of OGC API - Features (OGC 17-069r4, 7.2)."""
    base = service.base.rstrip("/")
    rels = {"self": "", "conformance": "/conformance", "data": "/collections", "service-desc": "/api"}
    found = [{"rel": rel, "type": "application/json", "href": base + path} for rel, path in rels.items()]
    return _json(title=service.title, description=_abstract(service, rng), links=found)


def _stac(service: Service, rng: random.Random) -> str:
    """Return a landing page of a STAC API (STAC API 1.0, core)."""
    base = service.base.rstrip("/")
    rels = {"self": "", "root": "", "search": "/search", "data": "/collections"}
    found = [{"rel": rel, "type": "application/json", "href": base + path} for rel, path in rels.items()]
    conforms = ["https://api.stacspec.org/v1.0.0/core", "https://api.stacspec.org/v1.0.0/item-search"]
    return _json(
        type="Catalog",
        stac_version="1.0.0",
        id=service.id,
        title=service.title,
        description=_abstract(service, rng),
        conformsTo=conforms,
        links=found,
    )


def _json(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


_MAKERS: Mapping[str, Callable[[Service, random.Random], str]] = {
    "wms": _wms,
    "wfs": _wfs,
    "wmts": _wmts,
    "wcs": _wcs,
    "csw": _csw,
    "arcgis": _arcgis,
    "ogcapi": _ogcapi,
    "stac": _stac,
}
