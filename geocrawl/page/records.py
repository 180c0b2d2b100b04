"""Read what an answer says of the list of records that it is a page of: the total that it states, its records' ids.

A harvest is held against the stated total. Each family of catalogues has one function in `JSON_PORTIONS` or
`XML_PORTIONS`, which returns None for any other document; the first that knows the document counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lxml import etree

from geocrawl.formats.json import JsonObject, integer_of, member, one_or_more, string_of
from geocrawl.formats.xml import child, children, first, first_text, local_name
from geocrawl.model import Portion, Url
from geocrawl.page.lists import page_of_list
from geocrawl.page.naming import kind_among
from geocrawl.urls import query_parameters, records_start

_MAX_ID_CHARS = 500
_MOST_STATED = 100_000_000
"""A larger total is not believed."""


# --------------------------------------------------------------------------- JSON


def json_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return what a JSON object holds of a list of records; None for any other document."""
    return next((portion for read in JSON_PORTIONS if (portion := read(data, url))), None)


def ckan_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return the portion of a CKAN's answer to package_search."""
    result = member(data, "result")
    if "success" not in data or not isinstance(result.get("results"), list):
        return None
    return portion_of("ckan", result.get("count"), _ids(result["results"], "id", "name"))


def arcgis_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return the portion of a page of an ArcGIS portal's search results."""
    if not isinstance(data.get("results"), list) or "nextStart" not in data or "num" not in data:
        return None
    return portion_of("arcgis", data.get("total"), _ids(data["results"], "id"))


def geonetwork_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return the portion of an answer of GeoNetwork's service `q`."""
    if "metadata" not in data or "summary" not in data:
        return None
    records = one_or_more(data["metadata"])
    ids = [string_of(record.get("geonet:info"), "uuid") or string_of(record.get("identifier")) for record in records]
    return portion_of("geonetwork", member(data, "summary").get("@count"), ids)


def linked_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return the portion of a page of records (OGC 20-004r1, 8.2) or of collections, which STAC pages as well."""
    features = one_or_more(data.get("features"))
    if any(is_record(feature) for feature in features) and "stac_version" not in features[0]:
        return portion_of("ogcapi-records", data.get("numberMatched"), _ids(features, "id"))
    if "numberMatched" in data and (collections := one_or_more(data.get("collections"))):
        return portion_of("collections", data["numberMatched"], _ids(collections, "id"))
    return None


def listed_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return the portion of a page of a portal's list of data sets (`page.lists`)."""
    page = page_of_list(data)
    return portion_of(page.form.signal, page.total, page.ids) if page else None


def dataset_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return the portion of data sets after DCAT that are counted, by their address (Esri's Geoportal Server) or by a
    total beside them."""
    datasets, total = datasets_in(data), total_of_datasets(data)
    if not datasets or (records_start(url) is None and total < 0):
        return None
    return portion_of("dcat", total, _ids(datasets, "identifier", "@id", "id"))


def datasets_in(data: JsonObject) -> list[JsonObject]:
    """Return the data sets of a list after DCAT, whatever it is called; [] for any other document."""
    for name in _DATASETS:
        listed = one_or_more(data.get(name))
        if any("distribution" in each or "distributions" in each or "landingPage" in each for each in listed):
            return listed
    return []


_DATASETS = ("dataset", "datasets", "dataSets", "results", "items", "data", "records")
_TOTALS = ("totalResults", "total", "numberMatched", "count", "hitCount", "totalCount", "numFound", "totalElements")


def total_of_datasets(data: JsonObject) -> int:
    """Return how many data sets a list after DCAT states; -1 when it states none."""
    return next((total for name in _TOTALS if (total := integer_of(data.get(name))) >= 0), -1)


def hydra_portion(data: JsonObject, url: Url) -> Portion | None:
    """Return the portion of a paged collection in JSON-LD (Hydra Core Vocabulary, `totalItems`)."""
    nodes = [data, *one_or_more(data.get("@graph"))]
    stated = next((node[name] for name in _TOTAL_ITEMS for node in nodes if name in node), None)
    if stated is None:
        return None
    total = stated.get("@value") if isinstance(stated, dict) else stated
    members = [each for node in nodes for name in _MEMBERS for each in one_or_more(node.get(name))]
    datasets = [each for each in (*nodes, *members) if string_of(each.get("@type")).endswith("Dataset")]
    return portion_of("hydra", total, dict.fromkeys(_ids(datasets or members, "@id")))


_TOTAL_ITEMS = ("hydra:totalItems", "totalItems", "http://www.w3.org/ns/hydra/core#totalItems")
_MEMBERS = ("hydra:member", "member", "dcat:dataset", "dataset")


_RECORD_TYPES = frozenset({"record", "dataset", "service", "catalog", "datacollection"})


def is_record(feature: JsonObject) -> bool:
    """Return whether a feature is a record (OGC 20-004r1, 7.2.6): its type says so, or it has a type and a title, and
    `time` or links."""
    properties = member(feature, "properties")
    form = string_of(properties.get("type"))
    is_named = bool(form and string_of(properties.get("title")))
    return form.lower() in _RECORD_TYPES or (
        is_named and ("time" in feature or bool(one_or_more(feature.get("links"))))
    )


JSON_PORTIONS: tuple[Callable[[JsonObject, Url], Portion | None], ...] = (
    ckan_portion,
    arcgis_portion,
    geonetwork_portion,
    linked_portion,
    listed_portion,
    dataset_portion,
    hydra_portion,
)


def portion_of(family: str, matched: object, ids: Iterable[str]) -> Portion:
    """Return a portion with bounded values; `matched`: the total as the answer writes it. A total below the number of
    records on this page counts as unknown."""
    total, kept = integer_of(matched), tuple(each.strip()[:_MAX_ID_CHARS] for each in ids)
    return Portion(family, total if len(kept) <= total <= _MOST_STATED else None, kept)


def _ids(records: object, *names: str) -> list[str]:
    found = ((string_of(record.get(name)) for name in names) for record in one_or_more(records))
    return [next(filter(None, values), "") for values in found]


# --------------------------------------------------------------------------- XML


def xml_portion(root: etree._Element, url: Url) -> Portion | None:
    """Return what an XML document holds of a list of records; None for any other document."""
    return next((portion for read in XML_PORTIONS if (portion := read(root, url))), None)


def csw_portion(root: etree._Element, url: Url) -> Portion | None:
    """Return the portion of an answer to GetRecords (OGC 07-006r1, 10.8.5)."""
    results = child(root, "SearchResults") if local_name(root) == "GetRecordsResponse" else None
    if results is None:
        return None
    ids = [_identifier(record) for record in children(results)]
    return portion_of("csw", csw_total(results, url), ids)


def csw_total(results: etree._Element, url: Url) -> int | None:
    """Return how many records a CSW states in its SearchResults; None for no number, and where it is that of the page:
    less than what was given so far, or that of a first page which is full and names a next record."""
    total, start = integer_of(results.get("numberOfRecordsMatched")), records_start(url) or 0
    rows = next((value for name, value in query_parameters(url) if name.lower() == "maxrecords"), "")
    is_page_of_more = not start and str(total) == rows and integer_of(results.get("nextRecord")) == total + 1
    return None if total < start + sum(1 for _ in children(results)) or is_page_of_more else total


_IDENTIFIERS = ("fileIdentifier", "metadataIdentifier", "identifier")


def _identifier(record: etree._Element) -> str:
    """Return the identifier of a record in Dublin Core, ISO 19139 or ISO 19115-3; '' for none."""
    named = {local_name(each): each for each in reversed(list(children(record)))}
    element = next((named[name] for name in _IDENTIFIERS if name in named), None)
    if element is None:
        return ""
    code = first(element, "code")
    return first_text(element if code is None else code, _MAX_ID_CHARS)


def oai_portion(root: etree._Element, url: Url) -> Portion | None:
    """Return the portion of an answer to ListRecords (OAI-PMH 2.0, 3.5: `completeListSize` is optional)."""
    if local_name(root).lower() != "oai-pmh":
        return None
    error, listed = child(root, "error"), child(root, "ListRecords")
    if error is not None and error.get("code") == "noRecordsMatch":
        return portion_of("oai-pmh", 0, ())
    if listed is None:
        return None
    token = child(listed, "resumptionToken")
    ids = [first_text(child(record, "header", "identifier"), _MAX_ID_CHARS) for record in children(listed, "record")]
    return portion_of("oai-pmh", None if token is None else token.get("completeListSize"), ids)


def feed_portion(root: etree._Element, url: Url | None = None) -> Portion | None:
    """Return the portion of a page of search results in Atom (OpenSearch 1.1, 4.2: `totalResults`) that link services,
    unlike those of a blog."""
    total = child(root, "totalResults") if local_name(root) == "feed" else None
    if total is None or not any(kind_among(each.get("type") or "") for each in root.iter("{*}link")):
        return None
    return portion_of("opensearch", first_text(total), [first_text(child(e, "id")) for e in children(root, "entry")])


def hydra_xml_portion(root: etree._Element, url: Url) -> Portion | None:
    """Return the portion of a paged collection in RDF/XML (Hydra Core Vocabulary, `totalItems`)."""
    total = next(root.iter("{http://www.w3.org/ns/hydra/core#}totalItems"), None) if local_name(root) == "RDF" else None
    if total is None:
        return None
    named = (str(each.get(_ABOUT) or "") for each in root.iter("{http://www.w3.org/ns/dcat#}Dataset"))
    return portion_of("hydra", first_text(total), dict.fromkeys(filter(None, named)))


_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"

XML_PORTIONS: tuple[Callable[[etree._Element, Url], Portion | None], ...] = (
    csw_portion,
    oai_portion,
    hydra_xml_portion,
    feed_portion,
)
