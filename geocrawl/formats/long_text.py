"""A long document's bytes in pieces, as they stand or mended, so that no second copy of the whole is made."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Set

from geocrawl.formats import prolog, repair
from geocrawl.formats.xml_reader import Cut, charset_conflict, charset_of, has_entities, prolog_deviations
from geocrawl.model import Deviation

_HEAD_BYTES = 65_536
_PIECE_BYTES = 262_144
_MAX_PIECE_BYTES = 4 * 1024 * 1024
"""A mended piece ends before a tag; one without any tag for so long ends anywhere."""
_END_TAG = re.compile(r"</(?:[\w.-]{1,100}:)?([\w.-]{1,100})")
_MAX_TAGS = 10_000
_PREFIXES = {
    "xlink": "http://www.w3.org/1999/xlink",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "ows": "http://www.opengis.net/ows/1.1",
    "gml": "http://www.opengis.net/gml",
    "ogc": "http://www.opengis.net/ogc",
}
"""Prefixes that people forget to declare: declared for them, so that a long document has not a fault in every line."""


class LongText:
    """The text of one long document."""

    def __init__(self, body: bytes, content_type: str) -> None:
        self._body = body
        self._content_type = content_type
        head = body[:_HEAD_BYTES]
        self._wide = prolog.wide_encoding(head)
        rest, notes = (head, ()) if self._wide else prolog.cut_front(head)
        self._begin = len(head) - len(rest)
        self._head = prolog.cut_front(head)[0] if self._wide else rest
        self._ended: set[str] = set()
        """Local names of elements whose end was met."""
        self._notes: dict[str, Deviation] = {each.code: each for each in (*notes, *prolog_deviations(self._head))}

    @property
    def size(self) -> int:
        """Bytes of the whole."""
        return len(self._body)

    def is_markup(self) -> bool:
        """Whether it begins like XML."""
        return self._head.lstrip()[:1] == b"<"

    def needs_mending(self) -> bool:
        """Whether a strict parser would lose some of its text silently."""
        return has_entities(self._body)

    def deviations(self) -> list[Deviation]:
        """What was met so far, one entry a code."""
        return [*self._notes.values()]

    def raw(self) -> Iterator[bytes]:
        """The bytes as they stand, without what stands before the document."""
        for conflict in charset_conflict(self._body, self._content_type):
            self._notes.setdefault(conflict.code, conflict)
        for start in range(self._begin, len(self._body), _PIECE_BYTES):
            yield self._body[start : start + _PIECE_BYTES]

    def mended(self) -> Iterator[bytes]:
        """UTF-8 without a declaration; each piece decoded by itself and mended (`repair`)."""
        self._notes.pop("charset-conflict", None)
        declared = "" if self._wide else prolog.declared_encoding(self._head)
        by_header = charset_of(self._content_type)
        first = True
        for piece in _before_tags(self._narrow()):
            text, wrong = repair.decode(piece, declared, by_header)
            if first:
                first, missing = False, _undeclared(self._body)
                text = _declaring(prolog.without_declaration(text), missing)
                if missing:
                    self._notes["undefined-prefix"] = Deviation("undefined-prefix", " ".join(missing))
            text, notes = repair.mend(text)
            self._ended.update(_END_TAG.findall(text))
            for note in (*notes, *((wrong,) if wrong else ())):
                self._notes.setdefault(note.code, note)
            yield text.encode("utf-8", "replace")

    def _narrow(self) -> Iterator[bytes]:
        """The bytes, those of wide encodings as UTF-8."""
        if not self._wide:
            for start in range(self._begin, len(self._body), _PIECE_BYTES):
                yield self._body[start : start + _PIECE_BYTES]
            return
        decoder = codecs.getincrementaldecoder(self._wide)("replace")
        for start in range(0, len(self._body), _PIECE_BYTES):
            yield decoder.decode(self._body[start : start + _PIECE_BYTES]).lstrip("\ufeff").encode("utf-8", "replace")

    def where_cut(self, root: str, containers: Set[str]) -> Cut:
        """Where it ends before its end: told by the end tags of its root and of what holds its items, once `mended`."""
        if root in self._ended:
            return Cut.NOT
        return Cut.INSIDE if self._ended.isdisjoint(containers) else Cut.AFTER_LAYERS

    def prefixed(self, names: Set[str]) -> frozenset[str]:
        """These names with the prefixes that they are written with."""
        any_name = "|".join(re.escape(name) for name in sorted(names))
        tags = re.finditer(rf"<([A-Za-z_][\w.-]{{0,40}}:(?:{any_name}))[\s/>]".encode(), self._body) if names else ()
        return frozenset(tag[1].decode("latin-1") for tag, _ in zip(tags, range(_MAX_TAGS), strict=False))

    def tail(self) -> bytes:
        """Its last bytes, for a person."""
        return self._body[-60:]


def _before_tags(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, each piece ending before a tag: no character, entity or reference is cut in two."""
    held = b""
    for piece in pieces:
        held += piece
        end = held.rfind(b"<")
        if end <= 0 and len(held) > _MAX_PIECE_BYTES:
            end = len(held)
        if end > 0:
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def _undeclared(body: bytes) -> tuple[str, ...]:
    """The usual prefixes that a document uses and does not declare."""
    return tuple(
        prefix
        for prefix in _PREFIXES
        if b"xmlns:" + prefix.encode() not in body and re.search(rb"[<\s]" + prefix.encode() + b":", body)
    )


def _declaring(text: str, prefixes: tuple[str, ...]) -> str:
    """The first piece of a document, with these prefixes declared in its root."""
    root = re.search(r"<(?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*(?=[\s/>])", text)
    if root is None:
        return text
    declared = "".join(f' xmlns:{prefix}="{_PREFIXES[prefix]}"' for prefix in prefixes)
    return text[: root.end()] + declared + text[root.end() :]
