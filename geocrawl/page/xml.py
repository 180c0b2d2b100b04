"""Read XML as `PageContent`: formats known by their root element, feeds, sitemaps, and documents of any other kind.

`_FORMATS` maps roots to readers. In all other elements a link is an element whose whole text is a URL, or an `href` or
`xlink:href` attribute. The link's description is in the nearest enclosing element that contains more text than the URL:
an RSS item, an Atom entry. Names and titles in that element are the anchor, descriptions the context.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from itertools import chain, islice
from urllib.parse import parse_qsl

from lxml import etree

from geocrawl.formats.text import fold
from geocrawl.formats.xml import XLINK_HREF, child, children, first, first_text, local_name, namespace_of, parse_text
from geocrawl.model import SITEMAP, FailureCode, Url
from geocrawl.page.content import (
    MAX_ANCHOR_CHARS,
    MAX_CONTEXT_CHARS,
    MAX_HREF_CHARS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    PageContent,
    RawLink,
    of_records,
    to_records,
)
from geocrawl.page.folders import BUCKETS, is_left, read_bucket
from geocrawl.page.imagery import read_josm_imagery
from geocrawl.page.metadata import RECORD_NAMES, address_in, link, read_record, records_in
from geocrawl.page.naming import kind_among, kind_of_protocol
from geocrawl.page.oai import EXCEPTION, read_oai, refuses_records
from geocrawl.page.rdf import read_rdf_xml
from geocrawl.page.records import csw_total, feed_portion, xml_portion
from geocrawl.page.thredds import is_thredds, read_thredds
from geocrawl.page.viewers import read_xml_configuration
from geocrawl.urls import RECORDS, get_records_url, query_parameters, records_start, records_url, with_parameters
from geocrawl.urls.records import CSW_ROWS

# --------------------------------------------------------------------------- map contexts


def read_web_map_context(root: etree._Element) -> Iterator[RawLink]:
    """Yield the servers of a ViewContext's layers (OGC 05-005, 7.5.1), with each layer's title as anchor."""
    for layer in root.iter("{*}Layer"):
        server = child(layer, "Server")
        resource = first(server, "OnlineResource") if server is not None else None
        href = (resource.get(XLINK_HREF) or resource.get("href") or "") if resource is not None else ""
        if server is None or not href:
            continue
        service = server.get("service") or ""
        names = [first_text(child(layer, "Title")), server.get("title") or "", service]
        abstract = first_text(child(layer, "Abstract"))
        yield link(href, "wmc", names=names, descriptions=[abstract], kind=kind_of_protocol(service))


def read_ows_context(root: etree._Element) -> Iterator[RawLink]:
    """Yield the operations of an Atom feed's offerings (OGC 12-084r2, 6.7); an offering's code names the kind."""
    for offering in root.iter("{*}offering"):
        entry = next((above for above in offering.iterancestors() if local_name(above) == "entry"), offering)
        kind = kind_of_protocol(offering.get("code") or "")
        for operation in offering.iter("{*}operation"):
            if (operation.get("method") or "GET").upper() == "GET" and (href := operation.get("href")):
                names = [first_text(child(entry, "title")), operation.get("code") or ""]
                descriptions = [first_text(child(entry, "publisher")), first_text(child(entry, "content"))]
                yield link(href, "owc", names=names, descriptions=descriptions, kind=kind)


# --------------------------------------------------------------------------- OpenSearch


def read_feed(root: etree._Element) -> Iterator[RawLink]:
    """Yield what an Atom feed offers, what its entries link by a type or relation that names a kind, and the next page
    of search results (OpenSearch 1.1, 4.2; RFC 5005)."""
    yield from read_ows_context(root)
    for number, entry in enumerate(children(root, "entry")):
        names = [first_text(child(entry, "title"))]
        for each in children(entry, "link"):
            kind = kind_among(each.get("type") or "", each.get("rel") or "")
            if kind and (href := each.get("href")):
                yield link(href, "feed", names=names, descriptions=[], kind=kind)._replace(record=number)
    if feed_portion(root) is not None:
        following = [each.get("href") for each in children(root, "link") if each.get("rel") == "next"]
        yield from (RawLink(href, RECORDS, rel="next") for href in following[:1] if href)


_MAX_TEMPLATE_CHARS = 2000
"""Longest template: a longer one is no address, and matching takes quadratic time."""
_PARAMETER = re.compile(r"[^?&]*\{[^{}&]*\}[^&]*&?")


def read_search_description(root: etree._Element) -> Iterator[RawLink]:
    """Yield the search addresses that can be requested without a search term."""
    names = [first_text(child(root, "LongName")) or first_text(child(root, "ShortName"))]
    descriptions = [first_text(child(root, "Description"))]
    for url in root.iter("{*}Url"):
        template = url.get("template") or ""
        if len(template) > _MAX_TEMPLATE_CHARS:
            continue
        place, mark, query = template.partition("?")
        if place and "{" not in place and (url.get("rel") or "results") in ("results", "collection"):
            query = _PARAMETER.sub("", query).rstrip("&")
            yield link(place + mark + query, "opensearch", names=names, descriptions=descriptions, kind="")


# --------------------------------------------------------------------------- answers of catalogues
# Some servers would cause endless loops: after the last page nextRecord is 0, as the standard requires (OGC 07-006r1,
# table 66), or 1, or the start of the same page, or larger than the last record's number; others say 0 on every
# page. So a next page begins after the current one and before the stated end; where that end is not reached, a
# nextRecord that does not grow has no say.


ISO_19139 = "http://www.isotc211.org/2005/gmd"
SIGNAL = "csw-record"
ANSWERS = frozenset({"GetRecordsResponse", "GetRecordByIdResponse"})
_CATALOGUE = "www.opengis.net/cat/csw/"
_MAX_GRAPHS = 1_000
"""Most RDF records read of one answer: a page has ten to a hundred, and even an empty graph takes 0.1 ms."""
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}RDF"


def read_answer(root: etree._Element, url: Url) -> list[RawLink]:
    """Return the links of a GetRecords or GetRecordById answer: those of its records, then the next page."""
    links = of_records(read_record(record, SIGNAL) for record in records_in(root))
    results = child(root, "SearchResults")
    graphs = (element for element in children(results) if _RDF in str(element.tag))  # outputSchema DCAT
    for graph in islice(graphs, _MAX_GRAPHS):
        links += read_rdf_xml(graph, url)
    following = _next_page(results, url, has_links=bool(links)) if results is not None else None
    return [*links, *to_records(following)]


def read_capabilities(root: etree._Element, url: Url) -> list[RawLink]:
    """Return a link to a catalogue's first page of records, from its capabilities; [] for other documents."""
    if local_name(root) != "Capabilities" or _CATALOGUE not in namespace_of(root):
        return []
    return to_records(get_records_url(url, version=root.get("version", "2.0.2")))


def _next_page(results: etree._Element, url: Url, *, has_links: bool) -> Url | None:
    """Return the request for the next page of records; None after the last page.

    When the records name no address at all (`has_links` is false), which Dublin Core often omits, the same page in ISO
    19139 is requested first.
    """
    start = records_start(url)
    if start is None:
        return None
    present = sum(1 for _ in children(results))
    returned = _number(results.get("numberOfRecordsReturned"), present) or present
    matched = csw_total(results, url)
    if present and not has_links and start == 0 and not _asks_for_iso(url):
        return with_parameters(url, {"outputSchema": ISO_19139, "typeNames": "gmd:MD_Metadata", **_ISO_NAMESPACE})
    named = (_number(results.get("nextRecord"), start + (returned or 0) + 1) or 0) - 1
    following = named
    if not returned or not present:  # records of this page have no such form: on by whole pages
        following = max(named, start + CSW_ROWS) if named > start and matched else start
    elif named <= start and matched is not None:  # no next record, or a wrong one: the total decides
        following = start + returned
    if following <= start or (matched is not None and following >= matched):
        return None
    is_cut = start == 0 and following == start + (returned or 0) >= _LEAST_ROWS
    return records_url(url, following, rows=(returned or 0) if is_cut else 0)


_LEAST_ROWS = 10
"""A first page of fewer records is a thin one, no sign of what the server gives at most."""


_ISO_NAMESPACE = {"NAMESPACE": f"xmlns(gmd={ISO_19139})"}


def _asks_for_iso(url: Url) -> bool:
    return any(name.lower() == "outputschema" and value == ISO_19139 for name, value in query_parameters(url))


def _number(text: str | None, default: int | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 12 else default


# --------------------------------------------------------------------------- files of desktop programs


_QUOTED_URL = re.compile(r"\burl='([^']{1,4000})'")
_ARCGIS = ("arcgismapserver", "arcgisfeatureserver", "afs", "ams")
_CONNECTION_ENDS = ("qgswmsconnections", "qgswfsconnections", "qgswcsconnections", "qgsxyztilesconnections")


def read_qgis_layers(root: etree._Element) -> Iterator[RawLink]:
    """Yield layers of a project (.qgs) or a layer definition (.qlr) whose data come from a service.

    A data source is a query (`url=…&layers=…`, provider wms), a list of quoted values (`url='…' typename='…'`, provider
    WFS), or the request itself.
    """
    for layer in root.iter("{*}maplayer"):
        source = first_text(child(layer, "datasource"), MAX_HREF_CHARS)
        provider = first_text(child(layer, "provider")).lower()
        href = _address_in_source(source)
        if href:
            kind = "arcgis" if provider in _ARCGIS else kind_of_protocol(provider)
            if kind == "wms" and "tileMatrixSet=" in source:
                kind = "wmts"
            if kind == "wms" and "type=xyz" in source:
                kind = ""
            names = [first_text(child(layer, "layername")), first_text(child(layer, "title"))]
            yield link(href, "qgis", names=names, descriptions=[first_text(child(layer, "abstract"))], kind=kind)


def read_qgis_connections(root: etree._Element) -> Iterator[RawLink]:
    """Yield connections that a person exported from QGIS: one element each, named after the kind."""
    for connection in root.iter("{*}wms", "{*}wfs", "{*}wcs"):
        if href := address_in(connection.get("url") or ""):
            name = connection.get("name") or ""
            yield link(href, "qgis", names=[name], descriptions=[], kind=local_name(connection).lower())


def is_connections(name: str) -> bool:
    """Return whether a root element of this name (lower case) contains connections of QGIS."""
    return name in _CONNECTION_ENDS


def _address_in_source(source: str) -> str:
    if quoted := _QUOTED_URL.search(source):
        return address_in(quoted[1])
    if "url=" in source and not source.lower().startswith("http"):
        return address_in(dict(parse_qsl(source)).get("url", ""))
    return address_in(source) if source.lower().startswith("http") else ""


def read_gdal_service(root: etree._Element) -> Iterator[RawLink]:
    """Yield the server of GDAL's description of a service: `<GDAL_WMS><Service name="WMS"><ServerUrl>…`."""
    service = first(root, "Service")
    named = service.get("name") or "" if service is not None else ""
    for name in ("ServerUrl", "ServerURL", "ServiceURL", "ServiceUrl", "GetCapabilitiesUrl", "URL"):
        for element in root.iter(name):
            if (href := address_in(first_text(element, MAX_HREF_CHARS))) and "${" not in href:
                kind = kind_of_protocol(named) or kind_of_protocol(local_name(root).replace("_", " "))
                yield link(href, "gdal", names=[first_text(first(root, "Layers")), named], descriptions=[], kind=kind)


def read_kml(root: etree._Element) -> Iterator[RawLink]:
    """Yield the addresses that a KML document loads: network links, overlays, icons (OGC 12-007r2, 9.2, 11.2, 12.1)."""
    for element in root.iter("{*}href"):
        parent = element.getparent()
        above = parent.getparent() if parent is not None else None
        if parent is None or above is None or local_name(parent) not in ("Link", "Url", "Icon", "href"):
            continue
        if local_name(parent) == "Icon" and local_name(above) not in ("GroundOverlay", "PhotoOverlay"):
            continue  # a marker's picture
        # viewFormat is part of the request; a relative address belongs to the page's own site
        href = first_text(element, MAX_HREF_CHARS)
        descriptions = [first_text(child(above, "description"))]
        yield link(href, "kml", names=[first_text(child(above, "name"))], descriptions=descriptions, kind="")


# --------------------------------------------------------------------------- any document


_URL = re.compile(r"\s*(https?://\S+)\s*", re.I)
_SITEMAP_ROOTS = frozenset({"urlset", "sitemapindex"})
_NAMES = frozenset({"title", "name", "label", "protocol"})
_DESCRIPTIONS = frozenset({"description", "summary", "abstract", "subtitle"})
_RELATIVE_HREF = frozenset({"link", "a", "entry", "outline"})
"""Elements whose bare `href` is an address even when it is relative (Atom, 4.2.7.1; XHTML inside feeds)."""
_OTHER_ROOTS = _SITEMAP_ROOTS | {"rss", "opml", "serviceexceptionreport", "tilemapservice", "services"}
"""Roots without a namespace of documents that are no configuration."""
_RECORD_HOLDERS = frozenset(name.lower() for name in RECORD_NAMES)
_MAX_CLIMB = 3
"""Most levels from a URL up to its description: gmd:URL, gmd:linkage, gmd:CI_OnlineResource."""
_MAX_GROUP = 80
"""Most elements of a group that are read."""


def read_xml(text: str, url: Url, *, max_links: int) -> PageContent | None:
    """Return the text and the links of an XML document at `url`; None when nothing can be parsed.

    Errors are ignored (libxml2's recovery), entities are not expanded, nothing is fetched.
    """
    root = parse_text(text)
    if root is None:
        return None
    name = local_name(root)
    content = PageContent(
        xml_root=name,
        xml_namespace=namespace_of(root),
        language=(root.get("{http://www.w3.org/XML/1998/namespace}lang") or "").lower()[:35],
    )
    content.text = _text(root)
    titles = (element for element in root.iter("*") if local_name(element).lower() == "title")
    content.title = next((fold(_text(element), MAX_TITLE_CHARS) for element in titles), "")
    known = dict.fromkeys(islice(_of_format(root, url), max_links + 1))
    known_hrefs = {" ".join(link.href.split()) for link in known}
    where = "sitemap" if name in _SITEMAP_ROOTS else "xml"
    content.portion = xml_portion(root, url)
    is_cut = _is_cut(text, root) or is_left(root, [*known])
    content.fault = EXCEPTION if refuses_records(root, url) else FailureCode.TRUNCATED if is_cut else ""
    content.keep(chain(known, _of_any(root, where, known_hrefs)), max_links)
    return content


def _is_cut(text: str, root: etree._Element) -> bool:
    """Return whether a document lacks the end tag of its root, which has content."""
    end = re.compile(rf"</(?:[^\s<>/:]+:)?{re.escape(local_name(root))}\s*>")
    return bool(len(root)) and not (end.search(text[-_TAIL_CHARS:]) or end.search(text))


_TAIL_CHARS = 300
"""Characters in which the end tag of a root usually stands."""


def _of_format(root: etree._Element, url: Url) -> Iterable[RawLink]:
    """Return the links of a document whose root has a reader in `_FORMATS`; none for any other."""
    name = local_name(root)
    if name in ANSWERS:
        return read_answer(root, url)
    lowered = name.lower()
    if lowered == "oai-pmh":
        return read_oai(root, url)
    if lowered in _RECORD_HOLDERS:
        return [link for record in records_in(root) for link in read_record(record, "metadata")]
    if is_connections(lowered):
        return read_qgis_connections(root)
    if is_thredds(root):
        return read_thredds(root)
    if lowered in BUCKETS:
        return read_bucket(root, url)
    if lowered == "rdf":
        return read_rdf_xml(root, url)
    reader = _FORMATS.get(lowered)
    if reader is not None:
        return reader(root)
    if not namespace_of(root) and lowered not in _OTHER_ROOTS and not lowered.endswith("capabilities"):
        return read_xml_configuration(root, url)
    return read_capabilities(root, url)


_FORMATS = {
    "viewcontext": read_web_map_context,
    "feed": read_feed,
    "imagery": read_josm_imagery,
    "opensearchdescription": read_search_description,
    "kml": read_kml,
    "qgis": read_qgis_layers,
    "qlr": read_qgis_layers,
    "gdal_wms": read_gdal_service,
    "gdal_wmts": read_gdal_service,
    "wcs_gdal": read_gdal_service,
    "ogrwfsdatasource": read_gdal_service,
}


def _of_any(root: etree._Element, where: str, known: Container[str]) -> Iterator[RawLink]:
    """Yield the links of any document, except for those in `known`."""
    for href, element in _hrefs(root):
        if href in known:
            continue
        if where == "sitemap":
            yield RawLink(href, where, rel=SITEMAP if local_name(root) == "sitemapindex" else "")
        else:
            yield RawLink(href, where, *_texts_around(element), (element.get("rel") or "").lower())


def _hrefs(root: etree._Element) -> Iterator[tuple[str, etree._Element]]:
    """Yield each address with its element, in document order."""
    is_sitemap = local_name(root) in _SITEMAP_ROOTS
    for element in root.iter("*"):
        for name in ("href", XLINK_HREF):
            value = element.get(name)
            if value and (_URL.match(value) or (name == "href" and local_name(element).lower() in _RELATIVE_HREF)):
                yield value, element
        text = element.text
        if text and len(text) < MAX_HREF_CHARS:
            if match := _URL.fullmatch(text):
                yield match[1], element
            elif is_sitemap and local_name(element) == "loc":
                yield text.strip(), element  # relative, against sitemaps.org


def _texts_around(element: etree._Element) -> tuple[str, str]:
    """Return anchor and context of a link: the nearest group's names and descriptions."""
    group: etree._Element | None = element
    for _ in range(_MAX_CLIMB + 1):
        if group is None:
            break
        names, descriptions = _names_and_descriptions(group)
        if names or descriptions:
            return fold(" ".join(names), MAX_ANCHOR_CHARS), fold(" ".join(descriptions), MAX_CONTEXT_CHARS)
        group = group.getparent()
    return fold(element.get("title") or "", MAX_ANCHOR_CHARS), ""


def _names_and_descriptions(group: etree._Element) -> tuple[list[str], list[str]]:
    """Return texts of a group by the name of their element or of the one around it (gmd:name/gco:CharacterString)."""
    names: list[str] = []
    descriptions: list[str] = []
    for count, element in enumerate(group.iter("*")):
        if count >= _MAX_GROUP:
            break
        text = element.text
        if not text or not text.strip() or _URL.fullmatch(text[:MAX_HREF_CHARS]):
            continue
        parent = element.getparent()
        kinds = {local_name(element).lower(), local_name(parent).lower() if parent is not None else ""}
        if kinds & _NAMES:
            names.append(text[:MAX_ANCHOR_CHARS])
        elif kinds & _DESCRIPTIONS:
            descriptions.append(text[: 2 * MAX_CONTEXT_CHARS])
    return names, descriptions


def _text(element: etree._Element) -> str:
    """Return the text of an element, folded, up to the length that is kept."""
    fragments: list[str] = []
    size = 0
    for fragment in element.itertext():
        stripped = str(fragment).strip()
        if stripped:
            fragments.append(stripped)
            size += len(stripped) + 1
            if size > MAX_TEXT_CHARS:
                break
    return fold(" ".join(fragments), MAX_TEXT_CHARS)
