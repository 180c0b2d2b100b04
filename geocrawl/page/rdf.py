"""Read data catalogues in RDF (DCAT 3): RDF/XML, Turtle and JSON-LD, by rdflib.

Catalogues mix vocabularies (dct:title, schema:name, dcat:accessURL, schema:contentUrl) and often refer to their JSON-LD
context by an address, which is not fetched, so properties are recognised by the last part of their names alone. A
distribution's addresses become links: the anchor is the dataset's title with the distribution's own, the context the
publisher and description; the kind is what `format`, `mediaType`, `conformsTo` or `type` name.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lxml import etree

from geocrawl.formats.text import fold, well_formed
from geocrawl.model import Url
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.naming import kind_among
from geocrawl.urls import RECORDS

if TYPE_CHECKING:
    from rdflib import Graph

MAX_CHARS = 400_000
"""Most characters read of one document: rdflib reads about 200,000 a second and blocks the crawl meanwhile."""
SIGNAL = "dcat"
_ADDRESSES = (
    "endpointURL",
    "accessURL",
    "contentUrl",
    "downloadURL",
    "endpointDescription",
    "landingPage",
    "serviceUrl",
)
_FORMATS = ("format", "encodingFormat", "mediaType", "conformsTo", "serviceType", "additionalType", "type")
_TITLES = ("title", "name", "prefLabel", "label", "organization-name", "fn")
_DESCRIPTIONS = ("description", "abstract")
_PUBLISHERS = ("publisher", "creator", "provider", "rightsHolder", "contactPoint")
_PARTS = ("distribution", "accessService", "hasPart", "servesDataset", "service", "dataset")
_NEXT = ("next", "nextPage")
_MAX_LINKS = 20_000
_SHORT_TITLE = 24
"""A distribution's title of at most this many characters counts as the name of a format, if it names a kind."""

_Node = Mapping[str, Sequence[str]]
"""Properties of a subject: last part of the property's name → values."""


def read_rdf_xml(root: etree._Element, url: Url) -> list[RawLink]:
    """Return the links of RDF/XML, which is serialised from the tree again, so that no DTD or entity reaches rdflib."""
    size = 0
    for part in list(root):
        size += len(etree.tostring(part)) if size <= MAX_CHARS else 0
        if size > MAX_CHARS:
            root.remove(part)
    return _read(etree.tostring(root, encoding="unicode"), "xml", url)


def read_turtle(text: str, url: Url) -> list[RawLink]:
    """Return the links of Turtle, or of N-Triples, which is a subset of it."""
    if len(text) > MAX_CHARS:
        text = text[: text.rfind(".\n", 0, MAX_CHARS) + 1]
    return _read(text, "turtle", url)


def read_json_ld(data: Any, url: Url) -> list[RawLink]:
    """Return the links of JSON-LD, without contexts that are addresses, so that rdflib fetches nothing."""
    local_only = _bounded(_without_remote(data))
    if isinstance(local_only, dict):
        inline = local_only.get("@context")
        local_only["@context"] = [{"@vocab": "http://schema.org/"}, *_listed(inline)]
    return _read(json.dumps(local_only), "json-ld", url)


def looks_like_turtle(text: str, content_type: str) -> bool:
    """Return whether a text that is no markup is Turtle, by its media type or its beginning."""
    if content_type in ("text/turtle", "application/x-turtle", "text/n3", "application/n-triples", "text/rdf+n3"):
        return True
    return text.lstrip("\ufeff \r\n\t")[:8].lower().startswith(("@prefix", "@base", "prefix "))


def _read(text: str, form: str, url: Url) -> list[RawLink]:
    graph = _graph(text, form, url)
    return _links(_nodes(graph))[:_MAX_LINKS] if graph is not None else []


def _graph(text: str, form: str, url: Url) -> Graph | None:
    """Return the RDF statements of `text`; None when none can be read."""
    import logging

    from rdflib import Graph

    logging.getLogger("rdflib").setLevel(logging.CRITICAL)  # rdflib warns about every malformed literal
    graph = Graph(bind_namespaces="none")
    try:
        graph.parse(data=text, format=form, publicID=url.address)
    except MemoryError:
        raise
    except Exception:  # rdflib's parsers raise AssertionError, IndexError, RecursionError and more on bad input
        return graph if len(graph) else None
    return graph


def _bounded(data: Any) -> Any:
    """Return the first nodes of a graph, up to `MAX_CHARS` characters."""
    nodes = data.get("@graph") if isinstance(data, dict) else data
    if not isinstance(nodes, list):
        return data if len(json.dumps(data)) <= MAX_CHARS else {}
    kept, size = [], 0
    for node in nodes:
        size += len(json.dumps(node))
        if size > MAX_CHARS:
            break
        kept.append(node)
    return {**data, "@graph": kept} if isinstance(data, dict) else kept


def _without_remote(data: Any) -> Any:
    """Return JSON-LD without contexts that are addresses."""
    if isinstance(data, dict):
        return {
            key: _inline(value) if key == "@context" else _without_remote(value)
            for key, value in data.items()
            if key != "@import"
        }
    return [_without_remote(value) for value in data] if isinstance(data, list) else data


def _inline(context: Any) -> list[Any]:
    return [_without_remote(part) for part in _listed(context) if isinstance(part, dict)]


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


# --------------------------------------------------------------------------- statements


def _nodes(graph: Graph) -> dict[str, _Node]:
    nodes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for subject, predicate, value in graph:
        nodes[well_formed(str(subject))][_last(well_formed(str(predicate)))].append(well_formed(str(value)))
    # A graph has no order: values are sorted so that the same document always results in the same links.
    return {subject: {name: sorted(values) for name, values in nodes[subject].items()} for subject in sorted(nodes)}


def _last(name: str) -> str:
    return name.rstrip("/#").replace("#", "/").rpartition("/")[2]


def _links(nodes: Mapping[str, _Node]) -> list[RawLink]:
    above = {part: subject for subject, node in nodes.items() for name in _PARTS for part in node.get(name, ())}
    links: list[RawLink] = []
    for subject, node in nodes.items():
        whole = nodes.get(above.get(subject, ""), {})
        links += _addresses(nodes, node, whole)
        following = [value for name in _NEXT for value in node.get(name, ()) if _web(value)]
        links += [RawLink(value, RECORDS) for value in following[:1]]
    return list(dict.fromkeys(links))


def _addresses(nodes: Mapping[str, _Node], node: _Node, whole: _Node) -> Iterable[RawLink]:
    titles = [_value(whole, _TITLES), _value(node, _TITLES)]
    formats = [_named(nodes, value) for name in _FORMATS for value in node.get(name, ())]
    kind = kind_among(*formats) or (kind_among(titles[1]) if len(titles[1]) <= _SHORT_TITLE else "")
    publisher = next((_named(nodes, v) for n in _PUBLISHERS for v in (*node.get(n, ()), *whole.get(n, ()))), "")
    for name in _ADDRESSES:
        for href in node.get(name, ()):
            if _web(href):
                yield link(
                    href,
                    SIGNAL,
                    names=[*titles, *formats[:1]],
                    descriptions=[publisher, _value(node, _DESCRIPTIONS) or _value(whole, _DESCRIPTIONS)],
                    kind="" if name in ("landingPage", "downloadURL") else kind,
                )


def _value(node: _Node, names: Sequence[str]) -> str:
    return next((fold(value, 300) for name in names for value in node.get(name, ())), "")


def _named(nodes: Mapping[str, _Node], value: str) -> str:
    """Return the label of the node that a value refers to, or the value itself."""
    return (_value(nodes[value], (*_TITLES, "value")) or value) if value in nodes else value


def _web(value: str) -> bool:
    return value.lower().startswith(("http://", "https://"))
