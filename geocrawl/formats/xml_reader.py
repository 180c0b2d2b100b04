"""Read XML tolerantly: an answer's bytes as an element tree, with every tolerance named as a `Deviation`.

A well-formed document is parsed as it is. Only one that a strict parser refuses is decoded, mended (`repair`) and
parsed again, and only one that is refused even then goes to libxml2's recovering parser.

Nothing is ever fetched and no entity expanded (`xml_parser`): a document that declares or uses entities goes through
`repair`, which drops the DOCTYPE. No bytes make this raise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lxml import etree

from geocrawl.formats import prolog, repair
from geocrawl.formats.charset import charset_conflict, decode_declared, find_encoding, header_charset
from geocrawl.formats.elements import child, local_name
from geocrawl.formats.truncation import Cut, where_cut
from geocrawl.formats.xml_parser import parse_recovering, parse_strictly
from geocrawl.model import Deviation
from geocrawl.sanitize import ending_of

_OTHER_ENTITY = re.compile(rb"&(?!amp;|lt;|gt;|quot;|apos;|#)")


@dataclass(frozen=True, slots=True)
class Reading:
    """The part of a document that could be read."""

    root: etree._Element | None
    """None when the body contains no XML."""
    deviations: tuple[Deviation, ...] = ()
    cut: Cut = Cut.NOT


def read_xml(body: bytes, content_type: str = "") -> Reading:
    """Return the element tree of a body; `content_type` is the header field with its parameters."""
    return unwrapped(_read(body, content_type))


def unwrapped(reading: Reading) -> Reading:
    """Return the exception report in a SOAP fault (SOAP 1.1, 4.4; 1.2, 5.4), or the fault, without its envelope.

    Any other content stays in its envelope: a service that answers a plain request with SOAP speaks nothing else.
    """
    root = reading.root
    if root is None or local_name(root) != "Envelope":
        return reading
    fault = child(root, "Body", "Fault")
    if fault is None:
        return reading
    report = next((each for each in fault.iter() if local_name(each).endswith("ExceptionReport")), fault)
    notes = (*reading.deviations, Deviation("soap-envelope", "a fault in an envelope"))
    return replace(reading, root=report, deviations=notes)


def has_entities(body: bytes) -> bool:
    """Return whether libxml2 would silently lose text of a document.

    It would if the document declares entities or, having a DOCTYPE, uses some that are not declared.
    """
    head = body[: prolog.MAX_PROLOG_BYTES]
    return b"<!ENTITY" in head or (b"<!DOCTYPE" in head and _OTHER_ENTITY.search(body) is not None)


def names_unknown_encoding(body: bytes) -> bool:
    """Return whether a document declares an encoding that no browser knows; libxml2 would read more of them."""
    declared = prolog.declared_encoding(body)
    return bool(declared) and find_encoding(declared) is None


def media_type_deviation(content_type: str) -> Deviation | None:
    """Return `content-type` unless the media type is one for XML (WMS 1.3.0, 7.2.3.1 and 1.1.1, 7.1.3.2), else None."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in ("text/xml", "application/xml", "application/vnd.ogc.wms_xml") or media_type.endswith("+xml"):
        return None
    return Deviation("content-type", media_type or "none")


def _read(body: bytes, content_type: str) -> Reading:
    body, found = prolog.strip_prolog(body)
    if body.lstrip()[:1] != b"<":
        return Reading(None, found)
    notes = [*found, *prolog.deviations(body)]
    declared = prolog.declared_encoding(body)
    root = None if has_entities(body) or names_unknown_encoding(body) else parse_strictly(body)
    if root is not None:
        return Reading(root, (*notes, *charset_conflict(body, declared, content_type)))
    text, wrong = decode_declared(body, declared, header_charset(content_type).lower())
    if wrong is not None:
        notes.append(wrong)
    return _read_mended(prolog.without_declaration(text), notes)


def _read_mended(text: str, notes: list[Deviation]) -> Reading:
    text, mended = repair.mend(text)
    notes += mended
    data = text.encode("utf-8", "replace")
    root = parse_strictly(data, encoding="utf-8")
    if root is not None:
        return Reading(root, tuple(notes))
    cut = where_cut(text)
    root, faults = parse_recovering(data)
    if cut is Cut.AFTER_ITEMS:
        notes.append(Deviation("truncated-tail", ending_of(text)))
    elif cut is Cut.NOT:
        notes += faults
    return Reading(root, tuple(notes), cut)
