"""Read JSON (RFC 8259) tolerantly: an answer's bytes as an object, with every tolerance named as a `Deviation`.

A body that a strict parser accepts is read as it is. Only one that it refuses is mended: a callback around it (JSONP),
text before and after, control characters in strings, commas before a closing bracket. A document that was cut off is
recognised by its open brackets and never completed. Bytes, values and depth are bounded, so no body costs much memory,
and none makes this raise.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

from geocrawl.formats.text import (
    BYTE_ORDER_MARKS,
    byte_order_mark,
    decode_declared,
    header_charset,
    unescape_html,
    well_formed,
    well_formed_escapes,
)
from geocrawl.model import Deviation
from geocrawl.sanitize import ending_of

MAX_BYTES = 32 * 1024 * 1024
MAX_VALUES = 2_000_000
"""Commas and opening brackets, a bound on the number of values: some 300 MB of memory at worst."""
MAX_DEPTH = 100
"""Brackets in brackets; deeper values would exhaust the stack of whoever reads them. Real ones stay below 30."""
_UNMARKED_UTF_16 = {b"{\x00": "utf-16-le", b"\x00{": "utf-16-be"}
_CALLBACK = re.compile(r"[\s/*]{0,200}[A-Za-z_$][\w$.\[\]]{0,100}\s{0,100}\(\s{0,100}(?=[{\[])")
_GUARD = re.compile(r"\s*\)\]\}',?\s*\n|\s*(?:while\(1\)|for\(;;\));")
"""What some servers write before JSON so that no script element can execute it."""
_OUTLINE = re.compile(r"\\.|[\"{}\[\]]|,(?=\s{0,1000}[}\]])", re.DOTALL)
"""Escapes, quotes, brackets, and commas that stand before a closing bracket."""
MAX_MENDED_CHARS = 8 * 1024 * 1024
"""A longer text is read as it is or not at all: mending looks at every quote."""
_MAX_JUNK_CHARS = 4_096
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\\?\Z))|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)', re.DOTALL)
"""Strings, which are kept, and comments of JavaScript. One that the text cuts off ends with it, also in an escape:
else each quote in it would begin the search for an end again."""
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9A-Fa-f]{4})|\\')
"""Escapes, which are kept, and backslashes that begin none."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonReading:
    """The part of a body that could be read."""

    value: JsonObject | None
    """None when the body contains no object."""
    deviations: tuple[Deviation, ...] = ()
    fault: str = ""
    """Why `value` is None: not-json, truncated or over-limit; '' when it is not."""
    detail: str = ""


def read_json(body: bytes, content_type: str = "") -> JsonReading:
    """Return the object in a body, or why it has no object; `content_type` is the header field with its parameters."""
    if len(body) > MAX_BYTES:
        return JsonReading(None, fault="over-limit", detail=f"{len(body)} bytes of JSON; at most {MAX_BYTES} are read")
    values = sum(map(body.count, (b",", b"{", b"[")))
    if values > MAX_VALUES:
        return JsonReading(None, fault="over-limit", detail=f"JSON of {values} values; at most {MAX_VALUES} are read")
    text, notes = _decode(body, content_type)
    if is_too_deep(text):
        return JsonReading(None, tuple(notes), "over-limit", "brackets in brackets, too deep to be read")
    return _parsed(well_formed_escapes(text), notes)


def is_too_deep(text: str) -> bool:
    """Return whether the brackets of a JSON text are nested deeper than `MAX_DEPTH`."""
    return _depth(text) > MAX_DEPTH and _depth(_STRING.sub("", text)) > MAX_DEPTH


def _depth(text: str) -> int:
    """Return the depth of a text's brackets, those in strings included."""
    brackets = text.encode("ascii", "ignore").translate(None, _NO_BRACKETS)
    if brackets.count(b"[") + brackets.count(b"{") <= MAX_DEPTH:
        return 0
    return max(accumulate(map(_STEPS.__getitem__, brackets)))


def _decode(body: bytes, content_type: str) -> tuple[str, list[Deviation]]:
    if mark := byte_order_mark(body):
        text = body[len(mark) :].decode(BYTE_ORDER_MARKS[mark].codec, "replace")
        return text, [Deviation("bom", f"byte order mark {mark.hex(' ').upper()}")]
    if wide := _UNMARKED_UTF_16.get(body.lstrip()[:2]):
        return body.decode(wide, "replace"), [Deviation("wrong-charset", f"JSON is UTF-8, this is {wide}")]
    text, wrong = decode_declared(body, "utf-8", header_charset(content_type).lower())
    return text, [wrong] if wrong else []


def _parsed(text: str, notes: list[Deviation]) -> JsonReading:
    parser = _Parser()
    try:
        value = parser.strict(text)
    except ValueError as error:
        return _read_mended(text, notes, error)
    return _of_value(value, [*notes, *parser.notes()])


def _of_value(value: object, notes: list[Deviation]) -> JsonReading:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value, notes = value[0], [*notes, Deviation("json-in-list", "the object stands alone in a list")]
    if isinstance(value, dict):
        return JsonReading(value, tuple(notes))
    return JsonReading(None, tuple(notes), "not-json", f"JSON, but no object: {type(value).__name__}")


def _read_mended(text: str, notes: list[Deviation], error: ValueError) -> JsonReading:
    """Read a text that a strict parser refused with `error`, tolerating more."""
    fault = " ".join(str(error).split())[:200]
    if len(text) > MAX_MENDED_CHARS:
        return JsonReading(None, tuple(notes), "not-json", fault)
    text, found = _unwrapped(text)
    text = _ESCAPE.sub(lambda match: match[0] if match[1] else r"\\", _COMMENT.sub(lambda match: match[1] or " ", text))
    text, is_cut = _without_last_commas(text)
    if is_cut:
        return JsonReading(None, (*notes, *found), "truncated", ending_of(text))
    parser = _Parser()
    try:
        value = parser.lenient(text)
    except ValueError:
        return JsonReading(None, (*notes, *found), "not-json", fault)
    return _of_value(value, [*notes, *(found or [Deviation("json-not-well-formed", fault)]), *parser.notes()])


def _unwrapped(text: str) -> tuple[str, list[Deviation]]:
    """Return the text from its first bracket on, without a callback around it, and what was removed."""
    wrapper = _CALLBACK.match(text) or _GUARD.match(text)
    if wrapper is not None:
        return text[wrapper.end() :].rstrip().rstrip(";)"), [Deviation("jsonp", wrapper[0].strip()[:100])]
    start = text.find("{", 0, _MAX_JUNK_CHARS)
    before = text[: max(start, 0)].strip()
    if not before or before.startswith("["):
        return text.lstrip(), []
    return text[start:], [Deviation("junk-before", " ".join(before.split())[:100])]


def _without_last_commas(text: str) -> tuple[str, bool]:
    """Return the text without commas before closing brackets, and whether it ends before its first value does."""
    kept: list[str] = []
    start, depth, in_string = 0, 0, False
    for match in _OUTLINE.finditer(text):
        mark = match[0]
        if mark == '"':
            in_string = not in_string
        elif in_string or len(mark) > 1:
            continue
        elif mark == ",":
            kept.append(text[start : match.start()])
            start = match.end()
        else:
            depth += 1 if mark in "{[" else -1
            if depth == 0:
                break
    return "".join(kept) + text[start:], depth > 0


class _Parser:
    """Python's JSON parser, noting what RFC 8259 forbids and servers send: NaN and duplicate names."""

    def __init__(self) -> None:
        self._constants = 0
        self._duplicate = ""

    def strict(self, text: str) -> object:
        """Return the value of a whole text. Raise ValueError when it is not well-formed."""
        return self._decoder(strict=True).decode(text)

    def lenient(self, text: str) -> object:
        """Return the first value in a text, whatever follows it. Raise ValueError for a text without a value."""
        return self._decoder(strict=False).raw_decode(text)[0]

    def notes(self) -> list[Deviation]:
        """Return a deviation for each kind of fault that was met."""
        notes = []
        if self._constants:
            notes.append(Deviation("json-nan", f"{self._constants} times NaN or Infinity, taken for null"))
        if self._duplicate:
            notes.append(Deviation("json-duplicate-key", f"first: {self._duplicate[:100]}; the last one is taken"))
        return notes

    def _decoder(self, *, strict: bool) -> json.JSONDecoder:
        return json.JSONDecoder(object_pairs_hook=self._object, parse_constant=self._constant, strict=strict)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs) and not self._duplicate:
            names = [name for name, _ in pairs]
            self._duplicate = next(name for name in names if names.count(name) > 1)
        return found

    def _constant(self, _: str) -> None:
        self._constants += 1


# --------------------------------------------------------------------------- values


JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object as a server wrote it: its values may be of any type."""

MAX_ITEMS = 20_000
"""Most items (collections, layers, keywords, reference systems) that are read of one list in a JSON document. The
largest known services have about 10,000.
"""
_MAX_TEXT_CHARS = 20_000
_MAX_LINE_CHARS = 1_000
_MAX_STRING_CHARS = 2_000
_MAX_DIGITS = 11
_MAX_INTEGER = 2**53
"""Larger numbers mean nothing exact (RFC 7493, 2.2), and databases and calendars do not store them."""
_TAG = re.compile(r"<[^<>]{0,1000}>")
_EMPTY: JsonObject = {}


# --------------------------------------------------------------------------- text


def text_of(value: object) -> str:
    """Return a string or number as text for people: HTML tags removed, character references resolved, stripped.

    At most 20,000 characters; '' for any other type.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    text = str(value)[: 2 * _MAX_TEXT_CHARS]
    if "<" in text:
        text = _TAG.sub(" ", text)
    return well_formed(unescape_html(text)).strip()[:_MAX_TEXT_CHARS]


def line_of(value: object) -> str:
    """Return `text_of(value)` as one line of at most 1,000 characters."""
    return " ".join(text_of(value).split())[:_MAX_LINE_CHARS]


def first_line(value: JsonObject, *names: str) -> str:
    """Return the first of these members that has text, as one line; '' when none has."""
    return next((line for name in names if (line := line_of(value.get(name)))), "")


def lines(value: object) -> tuple[str, ...]:
    """Return the first `MAX_ITEMS` texts of a list, or of a comma-separated string, as lines in order, each once."""
    parts = value.split(",", MAX_ITEMS) if isinstance(value, str) else list_of(value)
    return tuple(dict.fromkeys(line for line in map(line_of, parts[:MAX_ITEMS]) if line))


def string_of(value: object, *names: str) -> str:
    """Return a string unchanged, at most 2,000 characters; '' for any other value.

    Of an object, return the first of the members `names` that is a string, or without `names` its first member (texts
    by language); of a list, the string of its first element.
    """
    while isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str):
        return well_formed(value[:_MAX_STRING_CHARS])
    if isinstance(value, Mapping):
        members = [value.get(name) for name in names] if names else list(value.values())[:1]
        return next((string_of(member) for member in members if isinstance(member, str) and member), "")
    return ""


# --------------------------------------------------------------------------- objects and lists


def object_of(value: object) -> JsonObject:
    """Return `value` when it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else _EMPTY


def member(value: JsonObject, *names: str) -> JsonObject:
    """Return the object that following these member names leads to, else an empty object."""
    for name in names:
        value = object_of(value.get(name))
    return value


def list_of(value: object) -> list[Any]:
    """Return `value` when it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[JsonObject]:
    """Return the objects in a list."""
    return [item for item in list_of(value) if isinstance(item, Mapping)]


def one_or_more(value: object) -> list[JsonObject]:
    """Return the objects in a list, or a single object as a list: JSON-LD and converted XML leave out lists of one."""
    return objects([value] if isinstance(value, Mapping) else value)


# --------------------------------------------------------------------------- numbers


def number_of(value: object) -> float | None:
    """Return a finite number, also when it is written as a string; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def integer_of(value: object, default: int = -1) -> int:
    """Return a whole number, also when it is written as a string of digits or with `.0`.

    `default` for anything else, and for a number beyond 2**53.
    """
    if isinstance(value, str) and len(value) <= _MAX_DIGITS and value.isdecimal():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > _MAX_INTEGER:
        return default
    return int(value) if isinstance(value, int) or value.is_integer() else default
