"""Probe an OGC API: request its landing page, then the collections and the conformance that it links to.

Paths are never guessed: a landing page links to its parts (OGC 17-069r4, 7.2). The address is requested unchanged;
after a page for people, the JSON that it links to, or the address with `f=json`. Three requests at most, all to the
host of the landing page: links to another host come from servers behind a proxy, and are read as links to this host.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import quote

from geocrawl.formats.json import MAX_ITEMS, JsonObject, first_line, line_of, lines, list_of, objects, text_of
from geocrawl.model import (
    Attempt,
    Candidate,
    ContentOutcome,
    Deviation,
    Endpoint,
    Failure,
    Item,
    Kind,
    Layer,
    Link,
    Page,
    Purpose,
    Service,
    Status,
    Url,
)
from geocrawl.model.kinds import HostForm, KindDeclaration, PathForm, QgisLayer
from geocrawl.ports import Ask, ContentInterview, FieldQuestion, Interview
from geocrawl.probe.answer import Classification, with_fingerprint
from geocrawl.probe.content import Attempts, doubt, judge_features, judge_image, spread
from geocrawl.probe.extents import PIXELS, Sides, box_text, middle_of
from geocrawl.probe.fields import read_queryables
from geocrawl.probe.interview import ClassifiedAnswer, ask, lead, verdict_on
from geocrawl.probe.json_answers import (
    collection_deviations,
    examine_json,
    json_of,
    licence_in,
    linked,
    links_of,
    plain_then_json,
    read_collection,
    relations,
    systems,
)
from geocrawl.probe.json_tiles import levels_of_collection
from geocrawl.probe.previews import DEGREES, MERCATOR, Features, LayerContext, Picture, Preview, Tiles, View
from geocrawl.probe.registry import kind_of_json
from geocrawl.urls import RECORDS, below, read_url, service_endpoint, with_parameters

OGC_REL = "http://www.opengis.net/def/rel/ogc/"
_SERVED_TYPES = ("Feature", "FeatureCollection", "Coverage", "Domain")
_SERVED_KEYS = frozenset(
    {"geometry", "features", "tilesets", "tileMatrixSet", "tileMatrixSetURI", "tileMatrixSetId", "tileMatrixSets"}
    | {"tileMatrices", "inputs", "outputs", "jobID", "jobs", "stylesheets", "zones"}
)
"""Keys of what an API serves: features and records (OGC 17-069r4, 20-004), tile sets and their matrices (17-083r4),
processes and jobs (18-062r2), styles (20-009), coverages in JSON."""
_SERVED_RELATIONS = frozenset(
    {"tiling-scheme", "geodata", "schema", "queryables", "sortables", "item", "items", "execute", "process-desc"}
    | {"results", "status", "log", "exceptions", "legend", "stylesheet", "job-list"}
    | {"dggrs-definition", "dggrs-zone-data", "dggrs-zone-query"}
)
"""Relations of the OGC by which what an API serves links to its like and to its own parts."""
_TILE_RELATIONS = ("tilesets-vector", "tilesets-map", "tilesets-raster", "tilesets-coverage")
_CONTENT_RELATIONS = ("items", "coverage", "map", *_TILE_RELATIONS)


def is_ogcapi(value: JsonObject) -> bool:
    """Return whether an object is a document of an OGC API (Common, 19-072).

    That is a landing page, a conformance declaration, a list of collections or a collection. What an API serves
    describes no service, though it may link to the same parts: a record, a tile set, a process, a job, a style.
    """
    if value.get("type") in _SERVED_TYPES or not _SERVED_KEYS.isdisjoint(value):
        return False
    return is_landing(value) or declares_conformance(value) or is_collections(value) or is_collection(value)


def is_landing(value: JsonObject) -> bool:
    """Return whether an object has links that only a landing page of an OGC API has (OGC 17-069r4, 7.2)."""
    found = relations(value)
    if any(rel.startswith(OGC_REL) and rel.rpartition("/")[2] not in _SERVED_RELATIONS for rel in found):
        return True
    return "conformance" in found or {"data", "service-desc"} <= found or {"data", "service-doc"} <= found


def declares_conformance(value: JsonObject) -> bool:
    """Return whether an object names conformance classes of OGC API standards (OGC 17-069r4, 7.4)."""
    return any("opengis.net/spec/ogcapi" in line for line in lines(value.get("conformsTo")))


def is_collections(value: JsonObject) -> bool:
    """Return whether an object is a list of collections, each with an identifier and links (OGC 17-069r4, 7.13)."""
    listed = value.get("collections")
    if not isinstance(listed, list) or not isinstance(value.get("links"), list):
        return False
    return all(is_member(item) for item in objects(listed)) and len(objects(listed)) == len(list_of(listed))


def is_member(value: JsonObject) -> bool:
    """Return whether an object is a collection in a list of collections."""
    return bool(value.get("id") or value.get("name")) and isinstance(value.get("links"), list)


def is_collection(value: JsonObject) -> bool:
    """Return whether an object is one collection (OGC 17-069r4, 7.14): it has items, coverages, maps or queries."""
    if not value.get("id") or value.get("type") in ("Feature", "FeatureCollection"):
        return False
    own = {"itemType", "data_queries", "storageCrs"} & value.keys()
    return isinstance(value.get("links"), list) and bool(own or ("extent" in value and _has_content(relations(value))))


def _has_content(found: Iterable[str]) -> bool:
    return any(
        rel.rpartition("/")[2] in _CONTENT_RELATIONS for rel in found if "/" not in rel or rel.startswith(OGC_REL)
    )


KIND = KindDeclaration(
    kind=Kind.OGCAPI,
    name="OGC API",
    proof="a landing page with its conformance or collections (Features, Tiles, Maps, Records …)",
    items=("collection", "collections"),
    paths=(
        PathForm(
            name="OGC API: ArcGIS Hub's records",
            hint="/api/search/v1",
            path="/api/search/v1(?:/collections(?:/.*)?)?/?$",
            example="https://hub.example.org/api/search/v1",
        ),
        PathForm(
            name="OGC API: a path that names it (pygeoapi, ldproxy, MapServer, GeoServer, QGIS Server, CubeWerx)",
            hint="api",
            path="/(?:ogc-?api|oapi|oapif|pygeoapi|ogc/api|ogc-api)(?:/[^/.]+){0,2}/?$|/(?:ogc-?api|oapi|oapif|pygeoapi|ogc/api|ogc-api)(?:/[^/]+){0,3}/(?:collections|conformance|processes)(?:/|$)",
            example="https://data.example.org/ogcapi/buildings/collections/houses/items",
        ),
        PathForm(
            name="OGC API by GeoServer and ldproxy",
            hint="/ogc/",
            path="/ogc/(?:features|maps|tiles|coverages|records|processes)(?:/v1)?(?:/(?:collections|conformance|processes)(?:/.*)?)?/?$",
            example="https://data.example.org/geoserver/ogc/features/v1/collections",
        ),
        PathForm(
            name="OGC API Features by QGIS Server",
            hint="/wfs3",
            path="/wfs3(?:/(?:collections|conformance)(?:/.*)?)?/?$",
            example="https://data.example.org/cgi-bin/qgis_mapserv.fcgi/wfs3/collections",
        ),
        PathForm(
            name="OGC API: the items of a collection",
            hint="/collections/",
            path="/collections/[^/]+/(?:items|tiles|map|coverage|queryables|position|cube)(?:/.*)?$",
            example="https://data.example.org/collections/houses/items",
        ),
        PathForm(
            name="OGC API: its collections, asked for as JSON",
            hint="/collections",
            path="/collections/?$",
            query="f=json",
            example="https://data.example.org/collections?f=json",
        ),
    ),
    hosts=(
        HostForm(
            name="OGC API",
            host="(?:^|[.-])(?:ogc-?api|oapi)[.-]",
            path="^/(?:api/?)?(?:v?[0-9][0-9.]*/?)?$",
            example="https://ogcapi.example.org/",
        ),
    ),
    keys=(frozenset({"conformsTo"}), frozenset({"collections", "links"})),
    relations=frozenset({"conformance", "http://www.opengis.net/def/rel/ogc/1.0/conformance"}),
    is_document=is_ogcapi,
    standard="http://www.opengis.net/spec/ogcapi-common-1/1.0",
    media_type="application/json",
    client="owslib.ogcapi.features:Features",
    client_prints="service.feature_collections()",
    connections={"": "wfs"},
    connection_attributes={"version": "OGC_API_FEATURES"},
    qgis_layers=(
        # QGIS requests features of an OGC API in degrees (OGC 17-069r4, 7.12), whatever else a collection offers.
        QgisLayer(provider="OAPIF", type="vector", source="typename='{name}' url='{address}'", crs="OGC:CRS84"),
    ),
    web_maps={
        "openlayers": """\
(service, name) => features((extent) => withQuery(
  service.url.replace(/\\/+$/, '') + '/collections/' + encodeURIComponent(name) + '/items',
  {f: 'json', limit: 1000, bbox: inDegrees(extent)}))"""
    },
    layers_by_name=True,
)


# --------------------------------------------------------------------------- building blocks


_CLASS = re.compile(
    r"opengis\.net/spec/(?:ogcapi[-_]([a-z]{2,30})[\w.-]{0,30}|(wfs)-\d)/(\d[\w.]{0,10})", re.IGNORECASE
)
"""A conformance class: `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core`; `wfs-1/3.0` in its drafts."""
_NAMES = {
    "features": "Features",
    "tiles": "Tiles",
    "maps": "Maps",
    "coverages": "Coverages",
    "records": "Records",
    "processes": "Processes",
    "edr": "EDR",
    "styles": "Styles",
    "routes": "Routes",
    "movingfeatures": "Moving Features",
    "connectedsystems": "Connected Systems",
    "dggs": "DGGS",
    "joins": "Joins",
    "common": "Common",
}
_BY_RELATION = {
    "items": "features",
    "tiling-schemes": "tiles",
    **dict.fromkeys(_TILE_RELATIONS, "tiles"),
    "map": "maps",
    "coverage": "coverages",
    "processes": "processes",
    "execute": "processes",
    "routes": "routes",
    "styles": "styles",
}


def declared_blocks(value: JsonObject) -> dict[str, str]:
    """Return block → version for each standard whose conformance classes a document declares."""
    blocks: dict[str, str] = {}
    for name in lines(value.get("conformsTo")):
        if declared := _CLASS.search(name):
            block = "features" if declared[2] else declared[1].lower().replace("_", "")
            if block in _NAMES:
                blocks.setdefault(block, declared[3])
    return blocks


def linked_blocks(value: JsonObject) -> set[str]:
    """Return the blocks that a document's links, its kind of items or its queries point to."""
    names = {rel.removeprefix(OGC_REL).rpartition("/")[2] for rel in relations(value)}
    blocks = {block for name, block in _BY_RELATION.items() if name in names}
    if "data_queries" in value:
        blocks.add("edr")
    if value.get("itemType") in ("record", "records"):
        blocks = {*blocks - {"features"}, "records"}
    return blocks


def block_keywords(blocks: Iterable[str]) -> tuple[str, ...]:
    """Return `OGC API Features` … for each block, in a fixed order; Common is left out if there are others."""
    keywords = [name for block, name in _NAMES.items() if block in set(blocks)]
    return tuple(f"OGC API {name}" for name in keywords if name != "Common" or len(keywords) == 1)


def version_of(declared: dict[str, str]) -> str:
    """Return the version of the first block that is declared, in the order of `block_keywords`; '' for none."""
    return next((declared[block] for block in _NAMES if block in declared), "")


# --------------------------------------------------------------------------- documents


MAX_PAGES = 50
"""Most collections of records whose pages are read."""


def read_ogcapi(page: Page, value: JsonObject) -> Classification | None:
    """Return the service that a document of an OGC API describes; None for other documents, such as STAC's."""
    if kind_of_json(value) is not Kind.OGCAPI:
        return None
    return Classification("ok", service=ApiDescription(page.final).with_document(value).service())


@dataclass(frozen=True, slots=True)
class ApiDescription:
    """The description of one API by the documents read so far."""

    base: Url
    title: str = ""
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    provider: str = ""
    licence: str = ""
    declared: dict[str, str] = field(default_factory=dict)
    linked: frozenset[str] = frozenset()
    collections: tuple[Layer, ...] = ()
    pages: tuple[Link, ...] = ()
    codes: tuple[str, ...] = ()

    def with_document(self, value: JsonObject) -> ApiDescription:
        """Return the description extended by another document; a landing page may contain everything at once."""
        listed = objects(value.get("collections"))[:MAX_ITEMS] or ([value] if is_collection(value) else [])
        known = lines(value.get("crs"))
        read = [_collection(item, self.base, known) for item in listed]
        return replace(
            self,
            title=self.title or line_of(value.get("title")),
            abstract=self.abstract or text_of(value.get("description")),
            keywords=self.keywords or _keywords(value),
            provider=self.provider or _provider(value),
            licence=self.licence or licence_in(value, self.base, listed),
            declared={**declared_blocks(value), **self.declared},
            linked=self.linked.union(linked_blocks(value), *map(linked_blocks, listed)),
            collections=self.collections or tuple(layer for layer, _ in read),
            pages=self.pages or _pages(listed, self.base),
            codes=(*self.codes, *(code for _, codes in read for code in codes)),
        )

    def service(self) -> Service:
        """Return the API as a service."""
        blocks = {*self.declared, *self.linked}
        return Service(
            kind=Kind.OGCAPI,
            version=version_of(self.declared),
            title=self.title,
            abstract=self.abstract,
            keywords=tuple(dict.fromkeys((*self.keywords, *block_keywords(blocks)))),
            provider=self.provider,
            access_constraints=self.licence,
            formats=tuple(dict.fromkeys(name for collection in self.collections for name in collection.formats)),
            layers=self.collections,
        )


def _keywords(value: JsonObject) -> tuple[str, ...]:
    """Return keywords, which are plain texts, or objects with a `keyword` in each."""
    return lines(
        [keyword.get("keyword") if isinstance(keyword, dict) else keyword for keyword in list_of(value.get("keywords"))]
    )


def _provider(value: JsonObject) -> str:
    """Return the organisation that provides an API: `provider`, the first of `providers`, or the point of contact."""
    named = [value.get("provider"), value.get("contactPoint"), *list_of(value.get("providers"))[:1]]
    for name in named:
        if line := first_line(name, "name", "organization") if isinstance(name, dict) else line_of(name):
            return line
    return ""


def _collection(value: JsonObject, base: Url, known: Iterable[str]) -> tuple[Layer, tuple[str, ...]]:
    shared = tuple(known) if "#/crs" in list_of(value.get("crs")) else ()
    crs = tuple(dict.fromkeys((*systems({"crs": list(shared)}), *systems(value))))
    return read_collection(value, base, crs=crs, keywords=_keywords(value), formats=_formats(value, base))


def _formats(value: JsonObject, base: Url) -> tuple[str, ...]:
    """Return media types of a collection's items, coverages and maps, without pages for people."""
    formats = (link.media_type for link in links_of(value, base) if link.rel.rpartition("/")[2] in _CONTENT_RELATIONS)
    return tuple(dict.fromkeys(name for name in formats if name and name != "text/html"))


def _pages(collections: Iterable[JsonObject], base: Url) -> tuple[Link, ...]:
    """Return the first page of each collection of records, asked for as JSON whatever the browser's Accept says."""
    pages = []
    for value in collections:
        if value.get("itemType") not in ("record", "records"):
            continue
        items = [link for link in links_of(value, base) if link.rel.rpartition("/")[2] == "items"]
        items.sort(key=lambda link: "json" not in link.media_type)
        if items:
            url = items[0].url if "f=" in items[0].url.address else with_parameters(items[0].url, {"f": "json"})
            title = first_line(value, "title", "id")
            pages.append(Link(url, title, _provider(value), "items", RECORDS))
    return tuple(pages[:MAX_PAGES])


# --------------------------------------------------------------------------- interview


MAX_REQUESTS = 3
_COLLECTIONS = ("data", "http://www.opengis.net/def/rel/ogc/1.0/data")
_CONFORMANCE = ("conformance", "http://www.opengis.net/def/rel/ogc/1.0/conformance")
_MISSING = {"conformance": "no-conformance", "collections": "no-collections"}
"""Deviation codes of parts that the landing page links to and that cannot be read."""


def interview(candidate: Candidate) -> Interview:
    """Request the landing page, then the parts that it links to."""
    questions = plain_then_json(candidate.endpoint.url)
    answers = yield from ask(candidate, questions, partial(examine_json, read=read_ogcapi))
    verdict = verdict_on(answers, candidate)
    if verdict.status is not Status.VALID:
        return verdict
    landing = answers[-1]
    api = ApiDescription(landing.base).with_document(landing.classification.value)
    missing: list[Deviation] = []
    parts = _parts(landing, MAX_REQUESTS - len(answers))
    for name, url in parts:
        page = yield Ask(url)
        if (value := json_of(page)) is not None:
            api = api.with_document(value)
        else:
            missing.append(Deviation(_MISSING[name], f"{url.address}: {_why(page)}"[:200]))
    return replace(
        verdict,
        service=with_fingerprint(api.service()),
        deviations=(*verdict.deviations, *missing, *collection_deviations(api.codes)),
        requests=len(answers) + len(parts),
        leads=_root(landing, candidate),
        pages=api.pages,
    )


def _parts(landing: ClassifiedAnswer, most: int) -> list[tuple[str, Url]]:
    """Return the parts that are still to be requested, the more informative first: collections, then conformance."""
    wanted = []
    if "collections" not in landing.classification.value and not is_collection(landing.classification.value):
        wanted.append(("collections", linked(landing.classification.value, landing.base, _COLLECTIONS)))
    if "conformsTo" not in landing.classification.value:
        wanted.append(("conformance", linked(landing.classification.value, landing.base, _CONFORMANCE)))
    return [(name, url) for name, url in wanted if url is not None][:most]


def _why(page: Page | Failure) -> str:
    """Return a description of the answer that came instead of a part."""
    if isinstance(page, Failure):
        return page.detail
    return f"HTTP {page.status}" if not 200 <= page.status < 300 else "no JSON"


def _root(landing: ClassifiedAnswer, candidate: Candidate) -> tuple[Candidate, ...]:
    """Return the API that a part (a collection) names as its root, as a candidate."""
    root = linked(landing.classification.value, landing.base, ("root",))
    if root is None or service_endpoint(Kind.OGCAPI, root).key == candidate.endpoint.key:
        return ()
    return (lead(Kind.OGCAPI, root, landing.base),)


# --------------------------------------------------------------------------- content
# Check the content of an OGC API: request one feature or record of a collection, or a map if it has no items.
#
# The standards define the paths of both: `/collections/{id}/items` (OGC 17-069r4, 7.15) and `/collections/{id}/map`
# (OGC 20-058, 7). Where there are no items, the API's documents are requested again, whose links count (17-069r4, 7.1).
# A map that may be a drawn message is compared with a part of it.


def check_content(endpoint: Endpoint, service: Service, most: int) -> ContentInterview:
    """Request content of one collection after another until some is delivered."""
    attempts = Attempts()
    stated: Mapping[str, Url] | None = None
    for layer in choose(service, most):
        is_map = not has_items(layer)
        url = _content_url(endpoint.url, layer.name, is_map=is_map)
        answer = yield Ask(url, Purpose.MAP)
        look = judge_image(answer, (PIXELS, PIXELS)) if is_map else judge_features(answer)
        if not is_map and look[0] in _NO_ITEMS and isinstance(answer, Page):
            stated = (yield from _stated_items(endpoint.url)) if stated is None else stated
            if (own := stated.get(layer.name, url)) != url:
                url, answer = own, (yield Ask(own, Purpose.MAP))
                look = judge_features(answer)
        # MapProxy has a map of the whole only where its scale is configured.
        if is_map and look[0] in _NO_WHOLE and (within := _part(url, layer, whole=True)) is not None:
            url, answer = within, (yield Ask(within, Purpose.MAP))
            look = judge_image(answer, (PIXELS, PIXELS))
        if is_map:
            look = yield from doubt(look, answer, _part(url, layer))
        attempts.add(layer.name, "", url, answer, look)
        if attempts.is_enough:
            break
    return attempts.report(endpoint)


def ask_fields(endpoint: Endpoint, service: Service, proof: Attempt) -> FieldQuestion | None:
    """Ask for the queryables of the collection whose feature came (OGC 19-079r2, 6.2)."""
    items, url = proof.url.partition("?")[0], None
    if items.endswith("/items"):
        url = read_url(f"{items.removesuffix('/items')}/queryables")
    return FieldQuestion(with_parameters(url, {"f": "json"}), partial(read_queryables, proof.layer)) if url else None


def _stated_items(endpoint: Url) -> Generator[Ask, Page | Failure, Mapping[str, Url]]:
    """Request the landing page and the collections that it links to; return the addresses of their items by name."""
    value = json_of((yield Ask(endpoint, Purpose.MAP)))
    if value is None:  # a page for people
        value = json_of((yield Ask(with_parameters(endpoint, {"f": "json"}), Purpose.MAP))) or {}
    base = endpoint
    if "collections" not in value and (listed := linked(value, base, _COLLECTIONS)) is not None:
        value, base = json_of((yield Ask(listed, Purpose.MAP))) or {}, listed
    found = {}
    for collection in objects(value.get("collections"))[:MAX_ITEMS]:
        if (items := linked(collection, base, ("items",))) is not None:
            found[first_line(collection, "id", "name")] = with_parameters(items, {"limit": "1"})
    return found


def choose(service: Service, most: int) -> tuple[Layer, ...]:
    """Return at most `most` collections with items, or if there are none, with maps."""
    named = [layer for layer in service.layers if layer.name and layer.item is Item.COLLECTION]
    with_items = [layer for layer in named if has_items(layer)]
    return spread(with_items or [layer for layer in named if has_map(layer)], most)


def has_items(layer: Layer) -> bool:
    """Return whether a collection may have items: by the standard also one that does not state its formats."""
    return not layer.formats or any("geo+json" in name for name in layer.formats)


def has_map(layer: Layer) -> bool:
    """Return whether a collection states maps; GeoTIFF alone is of coverages."""
    return any(name.startswith("image/") and "tif" not in name for name in layer.formats)


def _content_url(endpoint: Url, name: str, *, is_map: bool) -> Url:
    query = {"width": str(PIXELS), "height": str(PIXELS), "f": "png"} if is_map else {"limit": "1", "f": "json"}
    return with_parameters(below(endpoint, f"{_path(name)}/{'map' if is_map else 'items'}"), query)


def _path(name: str) -> str:
    """Return the path of a collection, beneath the endpoint."""
    return f"collections/{quote(name, safe='')}"


_NO_ITEMS = frozenset({ContentOutcome.EXCEPTION, ContentOutcome.HTTP_ERROR, ContentOutcome.NOT_AN_IMAGE})
_NO_WHOLE = frozenset({ContentOutcome.EXCEPTION, ContentOutcome.HTTP_ERROR})


def _part(url: Url, layer: Layer, *, whole: bool = False) -> Url | None:
    """Return the request for the middle of a map, or for its `whole` extent (OGC 20-058, 8, `bbox`); None when that is
    not known."""
    if layer.box is None or layer.box.is_empty:
        return None
    sides = layer.box.bounds if whole else middle_of(layer.box.bounds)
    return with_parameters(url, {"bbox": box_text(sides)})


# --------------------------------------------------------------------------- previews


def preview(context: LayerContext) -> Preview | None:
    """Show a collection by its map (OGC 20-058, 8), else by its items, else by tiles of a map (20-057)."""
    layer = context.layer
    if layer.item is not Item.COLLECTION:
        return None
    if has_map(layer):
        return Picture((DEGREES,), partial(_map_url, context))
    if has_items(layer):
        return Features(partial(_features_url, context))
    if "application/json" not in layer.formats:  # of lists of tile sets
        return None
    collection = with_parameters(below(context.url, _path(layer.name)), {"f": "json"})
    return Tiles((MERCATOR, DEGREES), lambda view: levels_of_collection(collection, view.system))


def _map_url(context: LayerContext, view: View) -> Url:
    query = {"bbox": box_text(view.box), "width": str(view.size[0]), "height": str(view.size[1])}
    return with_parameters(_content_url(context.url, context.layer.name, is_map=True), query)


def _features_url(context: LayerContext, box: Sides, most: int) -> Url:
    url = _content_url(context.url, context.layer.name, is_map=False)
    return with_parameters(url, {"limit": str(most), "bbox": box_text(box)})
