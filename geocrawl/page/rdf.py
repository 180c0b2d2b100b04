"""Read data catalogues in RDF (DCAT 3): RDF/XML, Turtle with N-Triples, and JSON-LD, in one pass over the document.

Catalogues mix vocabularies (dct:title, schema:name, dcat:accessURL, schema:contentUrl) and often refer to their JSON-LD
context by an address, which is not fetched, so properties are recognised by the last part of their names alone. A
distribution's addresses become links: the anchor is the dataset's title with the distribution's own, the context the
publisher and description; the kind is what `format`, `mediaType`, `conformsTo` or `type` name.

A library's graph of statements costs five seconds a megabyte, so each form is read here as far as names and values
need: a thousandth of what it costs, no statement but the broken one is lost, and nothing is ever fetched.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any
from urllib.parse import urljoin

from lxml import etree

from geocrawl.formats.text import fold, well_formed
from geocrawl.model import Portion, Url
from geocrawl.model.times import Times, read_interval, read_values, union
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.naming import kind_among
from geocrawl.page.records import portion_of
from geocrawl.urls import RECORDS

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
_TIMES, _ENDS_OF_TIME = ("temporal", "temporalCoverage"), ("startDate", "endDate")
_USED = frozenset(
    chain(_ADDRESSES, _FORMATS, _TITLES, _DESCRIPTIONS, _PUBLISHERS, _PARTS, _NEXT, _TIMES, _ENDS_OF_TIME, ("value",))
)
"""Properties that are read; all others are passed over."""
_SHORT_TITLE = 24
"""A distribution's title of at most this many characters counts as the name of a format, if it names a kind."""

_ENDS = re.compile(r"[/#:}]")

_Node = Mapping[str, Sequence[str]]
"""Properties of a subject: last part of the property's name → values."""
_Statement = tuple[str, str, str]
"""Subject, last part of the property's name, and value."""


def read_rdf_xml(root: etree._Element, url: Url) -> list[RawLink]:
    """Return the links of RDF/XML (RDF 1.1 XML Syntax), the next page first."""
    return _links(_of_xml(root, url.address))


def read_turtle(text: str, url: Url) -> list[RawLink]:
    """Return the links of Turtle, or of N-Triples, which is a subset of it, the next page first."""
    return _links(_of_turtle(text, url.address))


def turtle_portion(text: str, url: Url) -> Portion | None:
    """Return the portion of a paged collection in Turtle or N-Triples (Hydra Core Vocabulary, `totalItems`)."""
    if "totalItems" not in text:
        return None
    totals, datasets = [], {}
    for subject, name, value in _of_turtle(text, url.address):
        if name == "totalItems":
            totals.append(value)
        elif name == "type" and _last(value) == "Dataset":
            datasets[subject] = "" if subject.startswith("_:") else subject
    return portion_of("hydra", totals[0], datasets.values()) if totals else None


def read_json_ld(data: Any, url: Url) -> list[RawLink]:
    """Return the links of JSON-LD, the next page first. Contexts that are addresses are not fetched."""
    return _links(_of_json_ld(data, url.address))


_TURTLE_TYPES = ("text/turtle", "application/x-turtle", "text/n3", "application/n-triples", "text/rdf+n3")
_FIRST_TRIPLE = re.compile(
    r"(?:#[^\n]*+\n|\s)*+(?:<(?:https?|urn):[^<>\s]{1,2000}>|_:\S{1,200})[ \t]+"
    r"<(?:https?|urn):[^<>\s]{1,2000}>[ \t]+[<_\"]"
)


def looks_like_turtle(text: str, content_type: str) -> bool:
    """Return whether a text is Turtle or N-Triples, by its media type, a prefix, or a first statement of whole IRIs."""
    if content_type in _TURTLE_TYPES:
        return True
    begun = text.lstrip("\ufeff \r\n\t")
    return begun[:8].lower().startswith(("@prefix", "@base", "prefix ")) or _FIRST_TRIPLE.match(begun) is not None


# --------------------------------------------------------------------------- RDF/XML


_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_SYNTAX = (_RDF, "{http://www.w3.org/XML/1998/namespace}")
"""Namespaces of attributes that are no properties."""
_MAX_NESTING = 64
"""Most node elements within each other: catalogues have five."""


def _of_xml(root: etree._Element, base: str) -> Iterator[_Statement]:
    base = root.get(_XML_BASE) or base
    blanks = map("_:{}".format, count())
    nodes = root.iterchildren("*") if str(root.tag) == f"{_RDF}RDF" else [root]
    for node in nodes:
        yield from _of_node(node, _subject(node, base, blanks), base, blanks, 0)


def _subject(node: etree._Element, base: str, blanks: Iterator[str]) -> str:
    """Return the name of a node element (7.2.11)."""
    if (about := node.get(f"{_RDF}about")) is not None:
        return _resolved(about, base)
    if (name := node.get(f"{_RDF}ID")) is not None:
        return _resolved(f"#{name}", base)
    name = node.get(f"{_RDF}nodeID")
    return f"_:n{name}" if name is not None else next(blanks)


def _of_node(node: etree._Element, subject: str, base: str, blanks: Iterator[str], depth: int) -> Iterator[_Statement]:
    """Yield the statements of a node element and of those within it."""
    if str(node.tag) != f"{_RDF}Description":
        yield subject, "type", str(node.tag)
    for name, value in node.attrib.items():
        if not str(name).startswith(_SYNTAX):
            yield subject, _last(str(name)), str(value)
    for element in node.iterchildren("*") if depth < _MAX_NESTING else ():
        yield from _of_property(element, subject, base, blanks, depth + 1)


def _of_property(
    element: etree._Element, subject: str, base: str, blanks: Iterator[str], depth: int
) -> Iterator[_Statement]:
    """Yield the statements of a property element (7.2.14 to 7.2.21)."""
    name, inner = _last(str(element.tag)), list(element.iterchildren("*"))
    form = element.get(f"{_RDF}parseType")
    if (resource := element.get(f"{_RDF}resource")) is not None:
        yield subject, name, _resolved(resource, base)
    elif (node_id := element.get(f"{_RDF}nodeID")) is not None:
        yield subject, name, f"_:n{node_id}"
    elif form == "Resource" or (not inner and any(not str(each).startswith(_SYNTAX) for each in element.attrib)):
        blank = next(blanks)
        yield subject, name, blank
        yield from _of_node(element, blank, base, blanks, depth)
    elif inner and form != "Literal":
        for node in inner:
            value = _subject(node, base, blanks)
            yield subject, name, value
            yield from _of_node(node, value, base, blanks, depth)
    else:
        yield subject, name, "".join(map(str, element.itertext())).strip()


def _resolved(address: str, base: str) -> str:
    if "://" in address[:12]:
        return address
    try:
        return urljoin(base, address)
    except ValueError:  # its brackets hold no address of IPv6
        return address


# --------------------------------------------------------------------------- Turtle, N-Triples


_TOKEN = re.compile(
    r"""(?:\s++|\#[^\n]*+)++                                                        # white space and comments
    |<(?P<iri>[^<>\n]*+)>
    |(?P<text>\"{3}(?>(?:[^"\\]+|\\.|"(?!""))*)\"{3}|'{3}(?>(?:[^'\\]+|\\.|'(?!''))*)'{3}
       |"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+')(?:@[A-Za-z0-9-]++|\^\^(?:<[^<>\n]*+>|[^\s<>"'()\[\];,.]++))?
    |(?P<mark>[.;,\[\]{}()])
    |(?P<word>(?>(?:[^\s<>"'()\[\]{};,.\#\\]|\\.|\.(?=[^\s<>"'()\[\]{};,.\#]))+))""",
    re.X | re.S,
)
"""The groups with a look ahead are atomic, not possessive: Python 3.11.2 finds nothing with such a possessive group."""
_LONG_QUOTES = ('"' * 3, "'" * 3)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DIRECTIVES = ("@prefix", "prefix", "@base", "base")


class _TurtleReader:
    """Reads Turtle token by token (RDF 1.1 Turtle, 6.5). What is not understood ends with the next full stop."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._prefixes: dict[str, str] = {}
        self._blanks = map("_:b{}".format, count())
        self._directive = ""
        self._name = ""
        self._subject = ""
        self._property = ""
        self._outer: list[tuple[str, str]] = []
        """Subject and property around each open bracket."""

    def statements(self, text: str) -> Iterator[_Statement]:
        """Yield the statements in order. Members of a collection are values of its property."""
        for token in _TOKEN.finditer(text):
            form = token.lastgroup
            if form == "mark":
                yield from self._mark(token["mark"])
            elif form == "iri":
                yield from self._value(_resolved(_unescaped(token["iri"]), self._base))
            elif form == "text":
                quotes = 3 if token["text"].startswith(_LONG_QUOTES) else 1
                yield from self._value(_unescaped(token["text"][quotes:-quotes]))
            elif form == "word":
                yield from self._word(token["word"])

    def _mark(self, mark: str) -> Iterator[_Statement]:
        if mark == "[":
            blank = next(self._blanks)
            outer = (self._subject or blank, self._property)
            yield from self._value(blank)
            self._outer.append(outer)
            self._subject, self._property = blank, ""
        elif mark == "]" and self._outer:
            self._subject, self._property = self._outer.pop()
        elif mark == ";":
            self._property = ""
        elif mark in ".{}":
            self._directive = self._name = self._subject = self._property = ""
            self._outer.clear()

    def _word(self, word: str) -> Iterator[_Statement]:
        lowered = word.lower()
        if not self._subject and lowered in _DIRECTIVES:
            self._directive = lowered.removeprefix("@")
        elif self._directive:
            self._name = word.removesuffix(":")
        elif word == "a" and self._subject and not self._property:
            self._property = "type"
        else:
            prefix, colon, local = word.partition(":")
            is_known = colon and prefix in self._prefixes
            yield from self._value(self._prefixes[prefix] + _unescaped(local) if is_known else word)

    def _value(self, value: str) -> Iterator[_Statement]:
        if self._directive:
            if self._directive == "base":
                self._base = value
            else:
                self._prefixes[self._name] = value
            self._directive = self._name = ""
        elif not self._subject:
            self._subject = value
        elif not self._property:
            self._property = _last(value)
        else:
            yield self._subject, self._property, value


def _of_turtle(text: str, base: str) -> Iterator[_Statement]:
    return _TurtleReader(base).statements(text)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    if escape[3]:
        return _ESCAPED.get(escape[3], escape[3])
    number = int(escape[1] or escape[2], 16)
    return chr(number) if number < 0x110000 else ""


# --------------------------------------------------------------------------- JSON-LD


def _of_json_ld(data: Any, base: str) -> Iterator[_Statement]:
    """Yield the statements of a JSON-LD document, whose depth is bounded."""
    reader = _JsonLdReader(base, dict(_terms(data)))
    for node in _listed(data):
        yield from reader.node(node, reader.subject(node))


class _JsonLdReader:
    """Reads nodes of JSON-LD 1.1; a property is known by the last part of its name or of what the context says."""

    def __init__(self, base: str, terms: Mapping[str, str]) -> None:
        self._base = base
        self._terms = terms
        self._blanks = map("_:{}".format, count())

    def subject(self, node: Any) -> str:
        """Return the name of a node; a blank one when it has none."""
        keys = node if isinstance(node, dict) else {}
        name = next((keys[key] for key in keys if self._terms.get(key, key) == "@id"), None)
        return _resolved(name, self._base) if isinstance(name, str) else next(self._blanks)

    def node(self, node: Any, subject: str) -> Iterator[_Statement]:
        """Yield the statements of a node and of those within it."""
        for key, values in node.items() if isinstance(node, dict) else ():
            name = self._terms.get(key, key)
            if name in ("@graph", "@included"):
                for inner in _listed(values):
                    yield from self.node(inner, self.subject(inner))
            elif name == "@type" or not name.startswith("@"):
                yield from self._values(subject, _last(name.removeprefix("@")), values)

    def _values(self, subject: str, name: str, values: Any) -> Iterator[_Statement]:
        for value in _listed(values):
            if not isinstance(value, dict):
                yield subject, name, _resolved(str(value), self._base) if name in _NEXT else str(value)
            elif "@value" in value:
                yield subject, name, str(value["@value"])
            elif "@list" in value or "@set" in value:
                yield from self._values(subject, name, value.get("@list", value.get("@set")))
            else:
                inner = self.subject(value)
                yield subject, name, inner
                yield from self.node(value, inner)


def _terms(data: Any) -> Iterator[tuple[str, str]]:
    """Yield each term of a document's own context with the last part of the name that it stands for."""
    for context in _listed(data.get("@context")) if isinstance(data, dict) else ():
        for term, meaning in context.items() if isinstance(context, dict) else ():
            name = meaning.get("@id") if isinstance(meaning, dict) else meaning
            if isinstance(name, str) and not term.startswith("@"):
                yield term, name if name.startswith("@") else _last(name)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


# --------------------------------------------------------------------------- statements


def _links(statements: Iterable[_Statement]) -> list[RawLink]:
    nodes = _nodes(statements)
    above = {part: subject for subject, node in nodes.items() for name in _PARTS for part in node.get(name, ())}
    links: list[RawLink] = []
    following: list[RawLink] = []
    for subject, node in nodes.items():
        links += _addresses(nodes, node, nodes.get(above.get(subject, ""), {}))
        pages = (value for name in _NEXT for value in node.get(name, ()) if _web(value))
        following += [RawLink(page, RECORDS) for page in pages][:1]
    return list(dict.fromkeys((*following, *links)))


def _nodes(statements: Iterable[_Statement]) -> dict[str, _Node]:
    nodes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for subject, name, value in statements:
        if name in _USED:
            nodes[subject][name].append(well_formed(value))
    # A graph has no order: values are sorted so that the same graph always results in the same links.
    return {subject: {name: sorted(values) for name, values in nodes[subject].items()} for subject in sorted(nodes)}


def _last(name: str) -> str:
    """Return the last part of a property's name: `accessURL` of `dcat:accessURL`, an IRI, or `{namespace}accessURL`."""
    return _ENDS.split(name.rstrip("/#"))[-1]


def _addresses(nodes: Mapping[str, _Node], node: _Node, whole: _Node) -> Iterable[RawLink]:
    titles = [_value(whole, _TITLES), _value(node, _TITLES)]
    formats = [_named(nodes, value) for name in _FORMATS for value in node.get(name, ())]
    kind = kind_among(*formats) or (kind_among(titles[1]) if len(titles[1]) <= _SHORT_TITLE else "")
    publisher = next((_named(nodes, v) for n in _PUBLISHERS for v in (*node.get(n, ()), *whole.get(n, ()))), "")
    stated = [value for each in (node, whole) for name in _TIMES for value in each.get(name, ())]
    times = union(_times(nodes, value) for value in stated)
    for name in _ADDRESSES:
        for href in node.get(name, ()):
            if _web(href):
                yield link(
                    href,
                    SIGNAL,
                    names=[*titles, *formats[:1]],
                    descriptions=[publisher, _value(node, _DESCRIPTIONS) or _value(whole, _DESCRIPTIONS)],
                    kind="" if name in ("landingPage", "downloadURL") else kind,
                    times=times,
                )


def _times(nodes: Mapping[str, _Node], value: str) -> Times | None:
    """Return the times between the dates of a node that a value refers to (DCAT 3, 6.15), or of a text `start/end`."""
    if value in nodes:
        return read_interval(*(_value(nodes[value], (name,)) for name in _ENDS_OF_TIME))
    return read_values(value, value)


def _value(node: _Node, names: Sequence[str]) -> str:
    return next((fold(value, 300) for name in names for value in node.get(name, ())), "")


def _named(nodes: Mapping[str, _Node], value: str) -> str:
    """Return the label of the node that a value refers to, or the value itself."""
    return (_value(nodes[value], (*_TITLES, "value")) or value) if value in nodes else value


def _web(value: str) -> bool:
    return value.lower().startswith(("http://", "https://"))
