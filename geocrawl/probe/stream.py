"""Read long capabilities without keeping their tree: each item is read when it ends in the parser, and then cleared.

A document of 100 MB becomes a tree of 600 MB. Nearly all of it is content items (layers, feature types, coverages),
each small. `read_items` returns the items as read by the probe, and the root without the items, which is short and can
be read like any document. Short documents are read whole (`formats.xml.read_xml`) with the same result, so a probe need
not distinguish the two.

Long documents are first read strictly. When that fails, they are read again piece by piece, each piece decoded and
repaired (`xml_repair`) before a recovering parser gets it. Memory stays bounded whatever the bytes: reading ends where
the tree grew by `_TREE_BYTES` of text without an item, and the part read until then is used, with the deviation
`over-limit`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from lxml import etree

from geocrawl.formats.text import charset_conflict, declared_encoding, decode_declared, header_charset
from geocrawl.formats.xml import (
    PARSER_OPTIONS,
    Cut,
    Reading,
    TagCount,
    fault_deviations,
    has_entities,
    local_name,
    names_unknown_encoding,
    read_xml,
    unwrapped,
)
from geocrawl.formats.xml_repair import (
    mend,
    prolog_deviations,
    strip_prolog,
    wide_encoding,
    without_declaration,
)
from geocrawl.model import Deviation, Page
from geocrawl.sanitize import ending_of

STREAM_BYTES = 8 * 1024 * 1024
"""Longer documents are streamed."""
_TREE_BYTES = 16 * 1024 * 1024
_MAX_FAULTS = 20_000
_READS_A_CHECK = 16
MAX_ITEMS = 100_000
"""Most items read of one document: an empty layer of a WMS takes 16 µs. The largest known services have about 50,000.
"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ItemSpec(Generic[T]):
    """Which elements of a document are content items, by local names, and how one is read."""

    elements: frozenset[str]
    """Elements that are items: {"Layer"}, {"FeatureType"} …"""
    within: frozenset[str]
    """Parents of items: {"Capability"}, {"Contents"} …; an item may also be within an item."""
    read: Callable[[etree._Element, int | None], T]
    """Function of (element, index of the item around it) that returns the item as read. Called when elements end, inner
    ones first: items within the element may be cleared already, so it reads only the element's own parts. Must not
    raise.
    """
    drop: frozenset[str] = frozenset()
    """Elements that are never read and can be many (`TileMatrixLimits`): dropped from long documents."""


@dataclass(frozen=True, slots=True)
class Items(Generic[T]):
    """A document with its items, as far as it could be read."""

    reading: Reading
    """The tree, without items when the document was long."""
    items: tuple[T, ...] = ()
    """The items in document order: a group before its members."""


def read_items(
    body: bytes, content_type: str, spec: ItemSpec[T], *, cut: bool = False, above: int = STREAM_BYTES
) -> Items[T]:
    """Read the tree of a body and the items in it. Never raises, whatever the body.

    `cut`: the body was longer and ends at a limit (`Page.cut`). A body of more than `above` bytes is streamed.
    """
    if len(body) > above or cut:
        return _StreamReader(body, content_type, spec, cut=cut).read()
    reading = read_xml(body, content_type)
    collector = _Collector(spec)
    if reading.root is not None:
        for event, element in etree.iterwalk(reading.root, events=("start", "end"), tag=_tags_of(reading.root, spec)):
            collector.see(event, element)
            if collector.is_full:
                limit = Deviation("over-limit", f"more than {MAX_ITEMS} items")
                reading = replace(reading, deviations=(*reading.deviations, limit))
                break
    return Items(reading, collector.items())


def _tags_of(root: etree._Element, spec: ItemSpec[Any]) -> list[str]:
    """Return the names of a tree's items as they are written: events for all elements take longer than finding them."""
    first = {element.tag: element for element in root.iter("*")}
    items = (str(tag) for tag, element in first.items() if local_name(element) in spec.elements)
    # In any namespace: one that contains a brace cannot be named.
    return [f"{{*}}{tag.rpartition('}')[2]}" for tag in items] or ["-"]


NOTHING: ItemSpec[None] = ItemSpec(frozenset(), frozenset(), lambda _element, _around: None)
"""Specification for documents without items."""


def read_whole(page: Page) -> Reading:
    """Read the tree of an answer without items; of a long answer as much as the limits allow."""
    return read_items(page.body, page.headers.get("content-type", ""), NOTHING, cut=page.cut).reading


class _Collector(Generic[T]):
    """Collects items in document order, from the begin and end events of elements."""

    def __init__(self, spec: ItemSpec[T]) -> None:
        self._spec = spec
        self._found: list[T | None] = []
        self._open: list[tuple[etree._Element, int]] = []
        self.is_full = False
        """Whether the document has more than `MAX_ITEMS` items; those are left out."""
        self._parents = spec.within | spec.elements

    def see(self, event: str, element: etree._Element) -> bool:
        """Process an element's begin or end event; return whether an item has ended and was read."""
        if local_name(element) not in self._spec.elements:
            return False
        if event == "start":
            self.is_full = self.is_full or len(self._found) >= MAX_ITEMS
            if not self.is_full and local_name_of_parent(element) in self._parents:
                self._open.append((element, len(self._found)))
                self._found.append(None)
            return False
        # By identity of the element, not by its place: a recovering parser may move elements that it closes.
        if all(element is not begun for begun, _ in self._open):
            return False
        while self._end_innermost() is not element:
            pass
        return True

    def _end_innermost(self) -> etree._Element:
        element, index = self._open.pop()
        self._found[index] = self._spec.read(element, self._open[-1][1] if self._open else None)
        return element

    def innermost(self) -> int | None:
        """Return the index of the last item when it has not ended yet."""
        return self._open[-1][1] if self._open and self._open[-1][1] == len(self._found) - 1 else None

    def items(self, *, without: int | None = None) -> tuple[T, ...]:
        """Return all items that were begun, except the last one if `without` is its index."""
        while self._open:
            self._end_innermost()
        items = self._found if without is None else self._found[:without]
        return tuple(item for item in items if item is not None)


def local_name_of_parent(element: etree._Element) -> str:
    """Return the local name of the element around this one; '' for a root."""
    parent = element.getparent()
    return local_name(parent) if parent is not None else ""


class _Source:
    """The file from which a parser reads: pieces until the end, a too large tree, or too many faults."""

    def __init__(self, pieces: Iterator[bytes], collector: _Collector[Any], faults: Callable[[], int]) -> None:
        self._pieces = pieces
        self._collector = collector
        self._faults = faults
        self._reads = 0
        self.grown = 0
        """Bytes read since the last item was cleared."""
        self.stopped = ""
        """Why reading ended before the document; '' when it did not."""
        self.half: int | None = None
        """Index of the item within which the bytes ended: a recovering parser reports its end nevertheless."""

    def read(self, _size: int = -1) -> bytes:
        self._reads += 1
        if self._collector.is_full:
            self.stopped = f"more than {MAX_ITEMS} items"
        elif self.grown > _TREE_BYTES:
            self.stopped = f"{self.grown} bytes without an item"
        elif self._reads % _READS_A_CHECK == 0 and self._faults() > _MAX_FAULTS:
            self.stopped = f"more than {_MAX_FAULTS} faults"
        piece = b"" if self.stopped else next(self._pieces, b"")
        self.grown += len(piece)
        if not piece:
            self.half = self._collector.innermost()
        return piece


class _StreamReader(Generic[T]):
    """Reads one long document."""

    def __init__(self, body: bytes, content_type: str, spec: ItemSpec[T], *, cut: bool) -> None:
        self._text = LongText(body, content_type)
        self._spec = spec
        self._body_is_cut = cut

    def read(self) -> Items[T]:
        """Read the whole document, or as much as the limits allow."""
        if not self._text.is_markup():
            return Items(Reading(None, tuple(self._text.deviations())))
        found = None if self._body_is_cut or self._text.needs_mending() else self._pass(strict=True)
        return found or self._pass(strict=False) or Items(Reading(None, tuple(self._text.deviations())))

    def _pass(self, *, strict: bool) -> Items[T] | None:
        """Read the document once; return None when a strict parser refuses it, or there is no root."""
        collector = _Collector(self._spec)
        pieces = self._text.raw() if strict else self._text.mended()
        source = _Source(pieces, collector, lambda: len(parser.error_log))
        parser: Any = etree.iterparse(
            source,
            events=("start", "end"),
            tag=self._tags(),
            recover=not strict,
            encoding=None if strict else "utf-8",
            **PARSER_OPTIONS,
        )
        try:
            for event, element in parser:
                if collector.see(event, element) or (event == "end" and local_name(element) in self._spec.drop):
                    _clear(element, self._spec)
                    source.grown = 0
        except (etree.XMLSyntaxError, ValueError, LookupError):
            return None
        if parser.root is None:
            return None
        return self._items(parser, collector, source, strict=strict)

    def _tags(self) -> list[str]:
        """Return the names of elements for which the parser sends events: events for all take ten times as long.

        For a recovering parser, an undeclared prefix is part of the name.
        """
        names = self._spec.elements | self._spec.drop
        written = names | self._text.prefixed(names)
        return [f"{{*}}{name}" for name in sorted(written)] or ["-"]

    def _items(self, parser: Any, collector: _Collector[T], source: _Source, *, strict: bool) -> Items[T]:
        root = _without_emptied(parser.root, self._tags())
        notes = self._text.deviations()
        cut = Cut.OVER_LIMIT if self._body_is_cut or source.stopped else Cut.NOT
        if cut is Cut.NOT and not strict:
            cut = self._text.cut
        items = collector.items(without=None if cut is Cut.NOT else source.half)
        if cut is Cut.OVER_LIMIT:
            why = source.stopped or f"longer than the limit of {self._text.size} bytes"
            notes.append(Deviation("over-limit", f"{why}; {len(items)} items read"))
        elif cut is Cut.AFTER_ITEMS:
            notes.append(Deviation("truncated-tail", ending_of(self._text.tail())))
        elif cut is Cut.NOT:
            notes += fault_deviations(parser.error_log)
        return Items(unwrapped(Reading(root, tuple(notes), cut)), items)


def _clear(element: etree._Element, spec: ItemSpec[Any]) -> None:
    """Empty an element that has ended, and remove its emptied predecessors.

    The element itself stays, because the parser may be reading the text after it.
    """
    element.clear(keep_tail=True)  # type: ignore[call-arg]  # missing in lxml's stubs
    parent = element.getparent()
    gone = spec.elements | spec.drop
    while parent is not None and (before := element.getprevious()) is not None and local_name(before) in gone:
        parent.remove(before)


def _without_emptied(root: etree._Element, tags: list[str]) -> etree._Element:
    for element in list(root.iter(*tags)):
        parent = element.getparent()
        if parent is not None and not len(element):
            parent.remove(element)
    return root


# --------------------------------------------------------------------------- long texts


_HEAD_BYTES = 65_536
_PIECE_BYTES = 262_144
_MAX_PIECE_BYTES = 4 * 1024 * 1024
"""A mended piece ends before a tag; one without a tag ends here, wherever that is."""
_MAX_TAGS = 10_000
_PREFIXES = {
    "xlink": "http://www.w3.org/1999/xlink",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "ows": "http://www.opengis.net/ows/1.1",
    "gml": "http://www.opengis.net/gml",
    "ogc": "http://www.opengis.net/ogc",
}
"""Prefixes that people forget to declare: declared for them, so that not every line of a long document is a fault."""


class LongText:
    """One long XML document; `content_type` is the header field with its parameters."""

    def __init__(self, body: bytes, content_type: str) -> None:
        self._body = body
        self._content_type = content_type
        head = body[:_HEAD_BYTES]
        self._wide = wide_encoding(head)
        rest, notes = (head, ()) if self._wide else strip_prolog(head)
        self._begin = len(head) - len(rest)
        self._head = strip_prolog(head)[0] if self._wide else rest
        self._tags = TagCount()
        self._notes: dict[str, Deviation] = {note.code: note for note in (*notes, *prolog_deviations(self._head))}

    @property
    def size(self) -> int:
        """Return the length of the document in bytes."""
        return len(self._body)

    def is_markup(self) -> bool:
        """Return whether the document begins with `<`."""
        return self._head.lstrip()[:1] == b"<"

    def needs_mending(self) -> bool:
        """Return whether a strict parser would lose text (`has_entities`), or the encoding is unknown."""
        return has_entities(self._body) or names_unknown_encoding(self._head)

    def deviations(self) -> list[Deviation]:
        """Return the deviations met so far, one a code."""
        return [*self._notes.values()]

    def raw(self) -> Iterator[bytes]:
        """Yield the bytes unchanged, from the first character of XML on."""
        declared = declared_encoding(self._body)
        for conflict in charset_conflict(self._body, declared, self._content_type):
            self._notes.setdefault(conflict.code, conflict)
        for start in range(self._begin, len(self._body), _PIECE_BYTES):
            yield self._body[start : start + _PIECE_BYTES]

    def mended(self) -> Iterator[bytes]:
        """Yield UTF-8 without a declaration, each piece decoded and mended (`xml_repair`) by itself."""
        self._notes.pop("charset-conflict", None)
        declared = "" if self._wide else declared_encoding(self._head)
        by_header = header_charset(self._content_type).lower()
        first = True
        for piece in _before_tags(self._as_utf_8()):
            text, wrong = decode_declared(piece, declared, by_header)
            if first:
                first, missing = False, _undeclared_prefixes(self._body)
                text = _with_prefixes(without_declaration(text), missing)
                if missing:
                    self._notes["undefined-prefix"] = Deviation("undefined-prefix", " ".join(missing))
            text, notes = mend(text)
            self._tags.add(text)
            for note in (*notes, *((wrong,) if wrong else ())):
                self._notes.setdefault(note.code, note)
            yield text.encode("utf-8", "replace")

    def _as_utf_8(self) -> Iterator[bytes]:
        """Yield the bytes, UTF-16 and UTF-32 converted to UTF-8."""
        if not self._wide:
            for start in range(self._begin, len(self._body), _PIECE_BYTES):
                yield self._body[start : start + _PIECE_BYTES]
            return
        decoder = codecs.getincrementaldecoder(self._wide)("replace")
        for start in range(0, len(self._body), _PIECE_BYTES):
            yield decoder.decode(self._body[start : start + _PIECE_BYTES]).lstrip("\ufeff").encode("utf-8", "replace")

    @property
    def cut(self) -> Cut:
        """Return where the document was cut off, when `mended` has been read to its end."""
        return self._tags.cut

    def prefixed(self, names: Set[str]) -> frozenset[str]:
        """Return these element names with the prefixes that they have in the document: `wms:Layer` for `Layer`."""
        any_name = "|".join(re.escape(name) for name in sorted(names))
        tags = re.finditer(rf"<([A-Za-z_][\w.-]{{0,40}}:(?:{any_name}))[\s/>]".encode(), self._body) if names else ()
        return frozenset(tag[1].decode("latin-1") for tag, _ in zip(tags, range(_MAX_TAGS), strict=False))

    def tail(self) -> bytes:
        """Return the last bytes, to be shown to a person."""
        return self._body[-6_000:]


def _before_tags(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces that end before a tag, so that no character or reference is cut in two."""
    rest = b""
    for piece in pieces:
        rest += piece
        end = rest.rfind(b"<")
        if end <= 0 and len(rest) > _MAX_PIECE_BYTES:
            end = len(rest)
        if end > 0:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _undeclared_prefixes(body: bytes) -> tuple[str, ...]:
    """Return the usual prefixes that a document uses and does not declare."""
    return tuple(
        prefix
        for prefix in _PREFIXES
        if b"xmlns:" + prefix.encode() not in body and re.search(rb"[<\s]" + prefix.encode() + b":", body)
    )


def _with_prefixes(text: str, prefixes: tuple[str, ...]) -> str:
    """Return the first piece of a document with these prefixes declared in its root."""
    root = re.search(r"<(?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*(?=[\s/>])", text)
    if root is None:
        return text
    declared = "".join(f' xmlns:{prefix}="{_PREFIXES[prefix]}"' for prefix in prefixes)
    return text[: root.end()] + declared + text[root.end() :]
