"""Read a long XML document in pieces, raw or mended, without a second copy of the whole in memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Set

from geocrawl.formats.charset import charset_conflict, decode_declared, header_charset
from geocrawl.formats.xml_reader import Cut, has_entities, names_unknown_encoding
from geocrawl.formats.xml_repair import (
    declared_encoding,
    mend,
    prolog_deviations,
    strip_prolog,
    wide_encoding,
    without_declaration,
)
from geocrawl.model import Deviation

_HEAD_BYTES = 65_536
_PIECE_BYTES = 262_144
_MAX_PIECE_BYTES = 4 * 1024 * 1024
"""A mended piece ends before a tag; one without a tag ends here, wherever that is."""
_END_TAG = re.compile(r"</(?:[\w.-]{1,100}:)?([\w.-]{1,100})")
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
        self._ended: set[str] = set()
        """Local names of elements whose end tag was met."""
        self._notes: dict[str, Deviation] = {each.code: each for each in (*notes, *prolog_deviations(self._head))}

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
            self._ended.update(_END_TAG.findall(text))
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

    def where_cut(self, root: str, containers: Set[str]) -> Cut:
        """Return where the document was cut off, by the end tags of `root` and of the `containers` of its items.

        To be called when `mended` has been read to its end.
        """
        if root in self._ended:
            return Cut.NOT
        return Cut.INSIDE if self._ended.isdisjoint(containers) else Cut.AFTER_ITEMS

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
