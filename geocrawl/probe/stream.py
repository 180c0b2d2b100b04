"""Read long capabilities without keeping their tree: each item is read when it ends in the parser, and then cleared.

A document of 100 MB becomes a tree of 600 MB. Nearly all of it is content items (layers, feature types, coverages),
each small. `read_items` returns the items as read by the probe, and the root without the items, which is short and can
be read like any document. Short documents are read whole (`xml_reader.read_xml`) with the same result, so a probe need
not distinguish the two.

Long documents are first read strictly. When that fails, they are read again piece by piece, each piece decoded and
repaired (`xml_repair`) before a recovering parser gets it. Memory stays bounded whatever the bytes: reading ends where
the tree grew by `_TREE_BYTES` of text without an item, and the part read until then is used, with the deviation
`over-limit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from lxml import etree

from geocrawl.formats.elements import local_name
from geocrawl.formats.long_text import LongText
from geocrawl.formats.xml_reader import PARSER_OPTIONS, Cut, Reading, fault_deviations, read_xml, unwrapped
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
        return _Streamed(body, content_type, spec, cut=cut).read()
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
        found = self._found if without is None else self._found[:without]
        return tuple(item for item in found if item is not None)


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


class _Streamed(Generic[T]):
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
            cut = self._text.where_cut(local_name(root), self._spec.within)
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
