"""Looking into objects of JSON without trust: every look gives a value of the type that is wanted, or an empty one."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from typing import Any

from geocrawl.formats.json_reader import JsonObject

_MAX_TEXT_CHARS = 20_000
_MAX_LINE_CHARS = 1_000
_TAG = re.compile(r"<[^<>]{0,1000}>")
_EMPTY: JsonObject = {}


def text_of(value: object) -> str:
    """A string or a number as text, stripped and bounded, tags of HTML taken out; '' for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    text = str(value)[: 2 * _MAX_TEXT_CHARS]
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    return _joined(text).strip()[:_MAX_TEXT_CHARS]


def line_of(value: object) -> str:
    """The same as one line."""
    return " ".join(text_of(value).split())[:_MAX_LINE_CHARS]


def _joined(text: str) -> str:
    """Halves of surrogate pairs, which JSON can write alone, joined or replaced: no database takes them."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def first_line(value: JsonObject, *names: str) -> str:
    """The first of these members that has text."""
    return next((line for name in names if (line := line_of(value.get(name)))), "")


def object_of(value: object) -> JsonObject:
    """An object, or an empty one."""
    return value if isinstance(value, Mapping) else _EMPTY


def member(value: JsonObject, *names: str) -> JsonObject:
    """The object at the end of a way of names, or an empty one."""
    for name in names:
        value = object_of(value.get(name))
    return value


def list_of(value: object) -> list[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[JsonObject]:
    """The objects of a list."""
    return [each for each in list_of(value) if isinstance(each, Mapping)]


def lines(value: object) -> tuple[str, ...]:
    """The texts of a list, or of one text parted by commas, as lines, each once, in order."""
    parts = value.split(",") if isinstance(value, str) else list_of(value)
    return tuple(dict.fromkeys(line for line in map(line_of, parts) if line))


def number_of(value: object) -> float | None:
    """A finite number, also one written as a string; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
