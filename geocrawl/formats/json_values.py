"""Read values of untrusted JSON: every function returns one type, and an empty value in place of any other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from geocrawl.formats.text import unescape_html, well_formed

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
    """Return a string unchanged, at most 2,000 characters; '' when there is none.

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
    return [each for each in list_of(value) if isinstance(each, Mapping)]


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
