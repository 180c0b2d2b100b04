"""Probe WFS 1.0.0 (OGC 02-058), 1.1.0 (04-094) and 2.0 (09-025r2): request capabilities.

A server answers a request without VERSION in its highest version (2.0.2, 7.6.2.7); if that fails, each version is
requested explicitly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lxml import etree

from geocrawl.formats.xml import child, children, local_name, text_of, texts
from geocrawl.model import Attempt, ContentOutcome, Endpoint, Failure, Item, Kind, Layer, Page, Service, Url
from geocrawl.model.kinds import KindDeclaration, PathForm, QgisLayer, program_in_folder
from geocrawl.ports import ContentInterview, FieldQuestion
from geocrawl.probe.content import (
    MAX_ADDRESS_CHARS,
    REFUSALS,
    Attempts,
    Exchange,
    Look,
    RefusedPart,
    exception_of,
    judge_features,
    judge_xml,
    negotiate,
    spread,
)
from geocrawl.probe.extents import Sides, crs_code, is_geographic
from geocrawl.probe.fields import MOST_TYPES, read_schema
from geocrawl.probe.interview import is_file, named_for
from geocrawl.probe.ows.addresses import by_origin, request_at
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part, ServiceMetadata, with_layers
from geocrawl.probe.ows.items import first_line, first_text, read_extent, read_keywords
from geocrawl.probe.previews import Features, LayerContext
from geocrawl.probe.stream import ItemSpec
from geocrawl.urls import query_parameters, read_url, request_url, with_parameters
from geocrawl.wording import counted

KIND = KindDeclaration(
    kind=Kind.WFS,
    name="OGC Web Feature Service",
    proof="capabilities 1.0.0 to 2.0.2 with feature types",
    items=("feature type", "feature types"),
    services=frozenset({"wfs", "ogc:wfs"}),
    requests=frozenset(
        {"getfeature", "describefeaturetype", "getpropertyvalue", "liststoredqueries", "describestoredqueries"}
        | {"getfeaturewithlock", "lockfeature"}
    ),
    paths=(
        PathForm(
            name="a path that ends in wfs",
            hint="wfs",
            path=r"[/_.]wfs[0-9]{0,3}(?:/v?[12][.0-9]*|\.cgi|\.fcgi|\.php|\.ashx|\.aspx|\.exe)?/?$",
            example="https://maps.example.org/geoserver/topp/wfs",
        ),
        program_in_folder("wfs", "https://maps.example.org/wfs/service"),
        PathForm(
            name="ArcGIS Server, features",
            hint="wfsserver",
            path="/wfsserver/?$",
            example="https://gis.example.org/arcgis/services/Roads/MapServer/WFSServer",
        ),
        PathForm(
            name="ArcGIS for INSPIRE, features",
            hint="/exts/inspirefeaturedownload/",
            path="/exts/inspirefeaturedownload/service/?$",
            example="https://gis.example.org/arcgis/rest/services/Roads/MapServer/exts/InspireFeatureDownload/service",
        ),
    ),
    roots=frozenset({"wfs_capabilities"}),
    # Other kinds of OWS Common send the same report; they are asked when no WFS answers.
    error_roots=frozenset({"exceptionreport"}),
    instead=Kind.WMS,
    namespaces=frozenset({"wfs"}),
    operation="GetFeature",
    sections=(("FeatureTypeList",),),
    client="owslib.wfs:WebFeatureService",
    client_versions=("1.0.0", "1.1.0", "2.0.0"),
    connections={"": "wfs"},
    qgis_layers=(
        QgisLayer(
            provider="WFS",
            type="vector",
            source="srsname='{crs}' typename='{name}' url='{address}' version='auto'",
        ),
    ),
    web_maps={
        "openlayers": """\
(service, name) => features((extent) => withQuery(service.url, {
  service: 'WFS', version: '1.1.0', request: 'GetFeature', typename: name, maxFeatures: 1000,
  outputFormat: 'application/json', srsname: 'EPSG:3857', bbox: extent.join(',') + ',EPSG:3857'}))"""
    },
    layers_by_name=True,
    snippets={
        "openlayers": """\
import GeoJSON from 'ol/format/GeoJSON.js';
import VectorLayer from 'ol/layer/Vector.js';
import VectorSource from 'ol/source/Vector.js';

const url = new URL($url);
url.search = new URLSearchParams({
  service: 'WFS', version: '2.0.0', request: 'GetFeature', typeNames: $layer, \
outputFormat: 'application/json', count: '100',
});
const layer = new VectorLayer({source: new VectorSource({url: url.href, format: new GeoJSON()})});"""
    },
)


_CRS = ("DefaultCRS", "DefaultSRS", "SRS", "OtherCRS", "OtherSRS")
_NAMESPACE_CHARS = 300
"""Longer namespaces are left out, because they are sent in addresses."""


def _read_type(element: etree._Element, parent: int | None) -> Part:
    box, codes = read_extent(element)
    layer = Layer(
        name=text_of(child(element, "Name")),
        title=first_line(element, "Title"),
        abstract=first_text(element, "Abstract"),
        parent=parent,
        crs=_crs(element),
        box=box,
        keywords=read_keywords(element),
        item=Item.FEATURE_TYPE,
        formats=texts(children(child(element, "OutputFormats"), "Format")),
        namespace=_namespace(child(element, "Name")),
    )
    return Part(layer, codes)


def _namespace(name: etree._Element | None) -> str:
    """Return the namespace of the prefix in a type's name; '' without a prefix or without its declaration."""
    prefix, colon, _ = text_of(name).partition(":")
    namespace = name.nsmap.get(prefix, "") if name is not None and colon else ""
    return namespace if len(namespace) <= _NAMESPACE_CHARS else ""


def _crs(element: etree._Element) -> tuple[str, ...]:
    """Return the codes of reference systems, the default one first."""
    stated = (crs_code(text_of(part)) for name in _CRS for part in children(element, name))
    return tuple(dict.fromkeys(filter(None, stated)))


def _finish(metadata: ServiceMetadata, parts: Sequence[Part]) -> Service:
    """Add types, and formats and address of GetFeature."""
    formats = metadata.operations.values("GetFeature", "outputFormat")
    return replace(
        with_layers(metadata, parts), formats=formats, content_address=metadata.operations.address("GetFeature")
    )


FORM = CapabilitiesForm(
    kind=Kind.WFS,
    sections=frozenset(
        {"Service", "Capability", "ServiceIdentification", "ServiceProvider", "OperationsMetadata"}
        | {"FeatureTypeList", "Filter_Capabilities"}
    ),
    contents=frozenset({"FeatureTypeList"}),
    items=ItemSpec(elements=frozenset({"FeatureType"}), within=frozenset({"FeatureTypeList"}), read=_read_type),
    finish=_finish,
    usual_version="1.1.0",
)
interview = OwsProbe(FORM, (None, "2.0.0", "1.1.0", "1.0.0"), lower_case=True).interview


# --------------------------------------------------------------------------- content
# Check the content of a WFS: request one feature of a type by GetFeature (WFS 1.0.0, 9.1; 1.1.0, 9.2; 2.0.2, 11.2).
#
# The request names no format, because the default of nearly all servers is GML. A request that is refused is changed as
# GIS clients change it: the other address, names of parameters of both versions, the namespace of the type's prefix
# (1.1.0, table 7; 2.0, 7.6.6), a stated format, an older version. An empty collection only shows that the server
# answers.


_MEMBERS = frozenset({"member", "featureMember", "featureMembers"})
"""Elements of GML 3.2, 2.1 and 3.1 for members of a collection; the last contains several features."""
_REMEDIES_FIRST = 4
_REMEDIES_LATER = 1
"""Most changed requests of the first type, and of each later one, which is asked in the manner that was answered."""
_OLDER = {"2": "1.1.0", "1.1": "1.0.0"}
"""An older version that servers of a version understand, too, by the beginning of the version."""
_ABOUT_TYPES = re.compile(r"namespace|prefix|type ?name|feature ?type|qname", re.IGNORECASE)
"""Words of an exception about the name of a type."""


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a service is asked for features."""

    url: Url
    version: str
    both_names: bool = False
    """Whether parameters are sent by the names of 2.0 and by the older ones."""
    format: str = ""
    """'' for the server's default."""
    namespaces: bool = False
    """Whether the namespace of the type's prefix is sent."""


def check_content(endpoint: Endpoint, service: Service, most: int) -> ContentInterview:
    """Request a feature of one type after another until one is delivered."""
    attempts = Attempts()
    named = [layer for layer in service.layers if layer.name and layer.item is Item.FEATURE_TYPE]
    if is_file(endpoint.url):  # a file answers no requests
        named = []
    manner = _Manner(by_origin(endpoint.url, service.content_address)[0], service.version)
    for layer in spread(named, most):
        remedies = _REMEDIES_LATER if attempts.made else _REMEDIES_FIRST
        tried = yield from negotiate(_Type(endpoint.url, service, layer), manner, remedies)
        if tried is None:
            continue
        attempts.add(layer.name, "", tried.url, tried.answer, tried.look)
        if attempts.is_enough:
            break
        manner = manner if tried.look[0] in REFUSALS else tried.variant
    return attempts.report(endpoint)


@dataclass(frozen=True, slots=True)
class _Type:
    """The GetFeature requests of one type (`content.Variants`)."""

    endpoint: Url
    service: Service
    layer: Layer

    def url(self, manner: _Manner) -> Url | None:
        """Return the request for one feature; None when the type's name makes it longer than servers accept."""
        url = request_at(manner.url, self.endpoint, self.service, _parameters(self.layer, manner))
        return url if len(url.address) <= MAX_ADDRESS_CHARS else None

    def judge(self, _: _Manner, answer: Page | Failure) -> Look:
        """Return the judgement on an answer."""
        return judge_feature(answer)

    def others(self, refused: Exchange[_Manner]) -> Iterator[_Manner]:
        """Yield other manners of requesting a feature that did not come."""
        manner, answer, layer = refused.variant, refused.answer, self.layer
        exception = exception_of(answer) if isinstance(answer, Page) else None
        if refused.look[0] is ContentOutcome.NOT_AN_IMAGE or (exception and exception.subject is RefusedPart.FORMAT):
            yield from (replace(manner, format=name) for name in _readable(layer.formats or self.service.formats))
        addresses = by_origin(self.endpoint, self.service.content_address)
        yield from (replace(manner, url=url) for url in sorted(addresses, key=lambda url: url != self.endpoint))
        if isinstance(answer, Failure) or (exception is None and answer.status not in (400, 500)):
            return
        yield replace(manner, both_names=True)
        if layer.namespace and exception and _ABOUT_TYPES.search(f"{exception.locator} {exception.text}"):
            yield replace(manner, namespaces=True)
        for beginning, older in _OLDER.items():
            if manner.version.startswith(beginning):
                yield replace(manner, version=older, both_names=False)


def _readable(formats: tuple[str, ...]) -> list[str]:
    """Return the formats whose features can be counted, GML first; packed ones are left out."""
    plain = [name for name in formats if not any(word in name.lower() for word in ("zip", "kml", "shape", "csv"))]
    return [name for word in ("gml", "json") for name in plain if word in name.lower()][:2]


def _parameters(layer: Layer, manner: _Manner) -> Mapping[str, str]:
    name, is_new = layer.name, manner.version.startswith("2")
    return {
        "SERVICE": "WFS",
        "VERSION": manner.version,
        "REQUEST": "GetFeature",
        **({"TYPENAMES": name, "COUNT": "1"} if is_new or manner.both_names else {}),
        **({"TYPENAME": name, "MAXFEATURES": "1"} if not is_new or manner.both_names else {}),
        **({"OUTPUTFORMAT": manner.format} if manner.format else {}),
        **(_namespaces(layer, is_new=is_new) if manner.namespaces else {}),
    }


def _namespaces(layer: Layer, *, is_new: bool) -> Mapping[str, str]:
    """Return the parameter that binds the prefix of a type's name, by its name and form in the version."""
    prefix = layer.name.partition(":")[0]
    if is_new:
        return {"NAMESPACES": f"xmlns({prefix},{layer.namespace})"}
    return {"NAMESPACE": f"xmlns({prefix}={layer.namespace})"}


def judge_feature(answer: Page | Failure) -> Look:
    """Return (outcome, detail): OK for one feature or more, BLANK for a collection without any, in GML or GeoJSON."""
    is_json = isinstance(answer, Page) and answer.body.lstrip()[:1] == b"{"
    return judge_features(answer) if is_json else judge_xml(answer, _count, "features")


def _count(root: etree._Element) -> str | None:
    """Count features in a collection, without empty members; None for another document."""
    if not local_name(root).endswith("Collection"):
        return None
    count = sum(sum(1 for item in member if local_name(item)) for member in root if local_name(member) in _MEMBERS)
    return counted(count, "feature") if count else ""


# --------------------------------------------------------------------------- fields


def ask_fields(endpoint: Endpoint, service: Service, proof: Attempt) -> FieldQuestion | None:
    """Ask for the schema of some types, that of the feature that came among them: those whose names have its prefix,
    because a schema of several namespaces only imports those of each (WFS 2.0, 9; 1.1.0, 8)."""
    address = read_url(proof.url)
    if address is None:
        return None
    stated = {name.lower(): value for name, value in query_parameters(address)}
    version, prefix = stated.get("version") or service.version, proof.layer.rpartition(":")[0]
    alike = [each.name for each in service.layers if each.name and each.name.rpartition(":")[0] == prefix]
    names = tuple(dict.fromkeys((proof.layer, *spread(alike, MOST_TYPES - 1))))
    word = "TYPENAMES" if version.startswith("2") else "TYPENAME"
    parameters = {"SERVICE": "WFS", "VERSION": version, "REQUEST": "DescribeFeatureType"}
    for most in (len(names), 1):
        url = request_url(address, named_for(service, {**parameters, word: ",".join(names[:most])}))
        if len(url.address) <= MAX_ADDRESS_CHARS:
            return FieldQuestion(url, partial(read_schema, names[:most]))
    return None


# --------------------------------------------------------------------------- features of a part of a map


def _features_url(context: LayerContext, box: Sides, most: int) -> Url:
    """Return the request for at most `most` features of a type in a box in degrees, in the manner in which the content
    check was answered.

    GeoJSON is asked for where it is offered. A service of version 1.0.0 knows boxes in the type's own reference system
    alone (9.1).
    """
    address, service, layer = context.checks.get(ContentOutcome.OK, context.url), context.service, context.layer
    stated = {name.lower(): value for name, value in query_parameters(address)}
    version = stated.get("version") or service.version
    west, south, east, north = (f"{side:.9g}" for side in box)
    formats = [name for name in layer.formats or service.formats if "json" in name.lower()]
    manner = _Manner(address, version, both_names={"count", "maxfeatures"} <= stated.keys())
    names = {**_parameters(layer, manner), **({"OUTPUTFORMAT": formats[0]} if formats else {})}
    counts: dict[str, str] = {name: str(most) for name in ("COUNT", "MAXFEATURES") if name in names}
    if version.startswith("1.0"):
        is_degrees = bool(layer.crs) and is_geographic(layer.crs[0])
        place = {"BBOX": f"{west},{south},{east},{north}"} if is_degrees else {}
        return with_parameters(address, named_for(service, {**names, **counts, **place}))
    place = {"SRSNAME": _DEGREES, "BBOX": f"{south},{west},{north},{east},{_DEGREES}"}
    return with_parameters(address, named_for(service, {**names, **counts, **place}))


_DEGREES = "urn:ogc:def:crs:EPSG::4326"
"""Its corners have latitude first (OGC 09-048r5)."""


def preview(context: LayerContext) -> Features | None:
    """Show a type by its features."""
    return Features(partial(_features_url, context)) if context.layer.item is Item.FEATURE_TYPE else None
