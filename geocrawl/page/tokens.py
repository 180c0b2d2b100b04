"""Split JavaScript and JSON into tokens, enough to find strings and the code around them, without running anything.

Reading is tolerant: characters that are no token are skipped, and a string without a closing quote ends with its line.
Every pattern is unambiguous (no two ways to match one text), so reading takes time proportional to the length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from geocrawl.formats.text import well_formed

MAX_CODE_CHARS = 300_000
"""Most characters read of one script or configuration."""

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*)
    |(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?)
    |(?P<template>`[^`\\]*(?:\\.[^`\\]*)*`?)
    |(?P<name>[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*)
    |(?P<sign>[{}()\[\],;:+=/?])
    |(?P<number>[0-9][\w.]*)""",
    re.X | re.S,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,80}\]){1,200}/[a-z]{0,8}", re.S)
_BEFORE_REGEX = frozenset("(,=:[{};?") | {"", "return"}
"""Tokens after which a slash begins a regular expression rather than a division."""
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(\r\n|.))", re.S)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "v": "", "0": "", "\n": "", "\r\n": ""}
_PLACEHOLDER = re.compile(r"\$\{([^{}]{0,200})\}")


class Token(NamedTuple):
    """A token with its text: a string without quotes and escapes, a name, a sign."""

    kind: str
    """'string', 'template', 'name', 'sign' or 'number'."""
    text: str


def read_tokens(code: str) -> Iterator[Token]:
    """Yield the tokens of the first `MAX_CODE_CHARS` of `code`, without comments and regular expressions."""
    position, end = 0, min(len(code), MAX_CODE_CHARS)
    before = ""
    while found := _TOKEN.search(code, position, end):
        kind, text = found.lastgroup or "", found[0]
        position = found.end()
        if kind == "comment":
            if text == "/*":
                position = code.find("*/", position, end) + 2
                if position == 1:
                    return
            continue
        if text == "/" and before in _BEFORE_REGEX and (regex := _REGEX.match(code, found.start(), end)):
            position, before = regex.end(), ")"
            continue
        if kind == "string":
            text = unescape(text[1:].removesuffix(text[0]))
        elif kind == "template":
            text = text[1:].removesuffix("`")
        yield Token(kind, text)
        before = text if kind in ("sign", "name") else ")"


def split_template(text: str) -> list[str]:
    """Return strings and names of a template literal in turn, a string first and last: a, b, c for `a${b}c`."""
    parts = _PLACEHOLDER.split(text)
    return [part.strip() if index % 2 else unescape(part) for index, part in enumerate(parts)]


def unescape(text: str) -> str:
    """Return a string literal's value (ECMAScript, 12.9.4; JSON, RFC 8259, 7), well-formed."""
    return well_formed(_ESCAPE.sub(_character, text)) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _PLAIN_ESCAPES.get(found[4], found[4])
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"
