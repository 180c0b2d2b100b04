"""Find service addresses in scripts and configurations without running them.

One reader serves inline and linked JavaScript, JSON in scripts, attributes and files, and JSON-LD, because JSON is read
as JavaScript here. The reader has a stack of open brackets. The kind of an address is the one that the nearest
construct around the address names: its key (`wmsUrl: …`), the `type` of its object (`{"type": "wms", "url": …}`:
Terria, MapStore, Oskari, Mapbender), the parameters that are sent to it (`{url: …, params: {LAYERS: …}}`: OpenLayers
whose names a build has shortened; `{service: "WFS"}`), a cell of its row (`["Roads", "WMS", …]`), or the function that
it is passed to (`L.tileLayer.wms(…)`, `new ol.source.TileWMS({url: …})`, Cesium's `WebMapServiceImageryProvider`,
ArcGIS' `WMSLayer`, `createElement(WMSTileLayer, {url: …})`). Strings joined by `+` or in a template are concatenated as
far as their parts are constants of the same script or the page's own origin. Strings that are no address are read as
text and as HTML, because viewers keep layers in formats of their own and build what they show from strings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import unquote, urljoin

from geocrawl.formats.text import fold, well_formed
from geocrawl.page.content import MAX_CONTEXT_CHARS, MAX_HREF_CHARS, RawLink
from geocrawl.page.naming import KIND_WORDS, kind_in_name, may_be_of_kind, may_be_service
from geocrawl.page.text import addresses_in_text

MAX_ADDRESSES = 2_000
"""Most addresses read of one script."""
_MAX_CONSTANTS = 5_000
_MAX_DEPTH = 200
"""Most brackets open at once; deeper brackets count as one with the innermost."""
_MAX_CLIMB = 4
"""Brackets around an address that are searched for the name of a kind."""

_TITLE_KEYS = frozenset({"title", "name", "label", "text"})
_ADDRESS_KEY = re.compile(
    r"(?:url|uri|href|src|source|host|server|endpoint|address|service|base|path|tiles|getmap|capabilities|resource)s?\d?\Z"
)
_PICTURE_KEY = re.compile(r"legend|icon|thumb|attribution|proxy|logo|image|licen|style|copyright")
_OTHER_KEY = re.compile(r"metadata|info|help|schema|doc|page|contact")
"""Keys of addresses that belong to no service of the kind that is named around them. An address that looks like a
service is read under any key."""
_ABSOLUTE = re.compile(r"(?:https?:)?//[^\s/?#\"'<>]+", re.I)
_ESCAPED_ADDRESS = re.compile(r"https?%3A%2F%2F", re.I)
_SUBDOMAIN = re.compile(r"\{(?:s|[a-z0-9]-[a-z0-9])\}", re.I)
_TILE_NUMBER = re.compile(r"\{-?(?:x|y|z|tilematrix|tilecol)\}", re.I)
_BAD = re.compile(r"[\s\x00-\x02<>\"`|*]")
_TYPE_KEY = re.compile(
    r"(?<!server)(?:type|typename|format)\Z|\A(?:service|protocol|provider|class|kind|driver|conformsto)\Z"
)
"""Keys whose value names the type of the object, even a type that is no kind of service."""
_TYPE_WORD = re.compile(r"[\w:.-]{3,60}")
"""A value that may name a type under any key."""
_PARAMETERS = re.compile(
    r"(?:\A|\.)(?:params|parameters|data|query|qs|searchparams|urlsearchparams|param|stringify)\Z", re.I
)
"""Names of objects, and functions of objects, that hold the parameters of a request."""
_LOCATION = {"location.origin": "\0", "location.protocol": "\1", "location.host": "\2", "location.hostname": "\2"}
"""The parts of the page's own address, as they stand in strings that are joined of them."""
_OWN_ORIGIN = re.compile(r"\A(?:\x00|\x01?//\x02)(?=/)|\A\x01(?=//)")
_IN_BRACES = re.compile(r"[{}]|\$\(")
_ATTRIBUTE = re.compile(r"(?:href|src|action|data-[\w-]{1,40})\s?=\s?[\"']?([^\s\"'<>]{4,2000})", re.I)
_SEPARATORS = str.maketrans("|*^", "   ")
"""Replaces what viewers put between the parts of a layer in one string: `wms*Roads*https://…`."""
MAX_TEXT_CHARS = 200_000
"""Most characters of all strings of a script that are read as text."""


@dataclass(slots=True, eq=False)
class _Bracket:
    """An open bracket: a call's arguments, an object or a list."""

    sign: str
    name: str = ""
    """Name of the function that is called, or of the object."""
    kind: str = ""
    typed: bool = False
    """Whether the object or row names its own type, so that the brackets around it no longer count."""
    title: str = ""
    argument: str = ""
    """Kind that the argument before names: of the component that gets the next argument as its properties."""
    parameters: bool = False
    """Whether the brackets hold the parameters of a request."""
    above: _Bracket | None = None
    depth: int = 0


@dataclass(slots=True, eq=False)
class _AddressString:
    """A string that may be an address, with its key and the bracket around it."""

    text: str
    key: str
    bracket: _Bracket
    whole: bool
    """Whether nothing unknown was joined to it."""


@dataclass(slots=True)
class _Value:
    """An expression of strings joined by `+`, as far as it is known."""

    key: str
    known: str = ""
    open: bool = True
    """Whether all parts joined so far are known."""
    parts: int = 0

    def add(self, text: str | None) -> None:
        """Append a part; None means a part of unknown value."""
        self.parts += 1
        if text is None:
            self.open = False
        elif self.open and len(self.known) <= MAX_HREF_CHARS:
            self.known += text


@dataclass(slots=True)
class _Reader:
    """Reads the tokens of one script in order."""

    bracket: _Bracket = field(default_factory=lambda: _Bracket(""))
    constants: dict[str, str] = field(default_factory=lambda: dict(_LOCATION))
    found: list[_AddressString] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    """Names of parts whose value was not known where they were joined."""
    texts: list[str] = field(default_factory=list)
    """Strings that contain addresses among other text: HTML, labels, lists."""
    value: _Value | None = None
    joined: bool = False
    """Whether the last token was a `+`."""
    chosen: bool = False
    """Whether a `?` is open, so that the text before the next `:` is a value, not a key."""
    key: str = ""
    """Key of the next value."""
    is_property: bool = False
    """Whether the key is that of a property (`a: …`), not of a variable (`a = …`)."""
    last: Token = field(default_factory=lambda: Token("", ""))

    def take(self, token: Token) -> None:
        """Process the next token."""
        if token.kind == "sign":
            self._sign(token.text)
        elif token.kind in ("string", "template", "name", "number"):
            self._operand(token)
        self.last = token

    def _operand(self, token: Token) -> None:
        if self.value is None or not self.joined:
            self._end_value()
            self.value = _Value(self.key)
        self.joined = False
        if token.kind == "string":
            self.value.add(token.text)
        elif token.kind == "template":
            for index, part in enumerate(split_template(token.text)):
                if part:
                    self.value.add(self._constant(part) if index % 2 else part)
        else:
            self.value.add(self._constant(token.text))

    def _sign(self, sign: str) -> None:
        if sign == "+":
            self.joined = True
            return
        self.joined = False
        if sign == "?" or (sign == ":" and self.chosen):
            self._end_value()
            self.chosen = sign == "?"
            return
        if sign in ":=":
            self.value, self.key = None, self.last.text if self.last.kind in ("name", "string") else ""
            self.is_property = sign == ":"
            if (
                self.bracket.parameters
                and self.key.lower() == "layers"
                and self.bracket.name.lower().startswith("param")
            ):
                self._note_request("wms")
            return
        name = self.last.text if sign == "(" and self.last.kind == "name" else self.key
        if sign == "(":
            self.value = None
        self._end_value()
        if sign == "," and self.bracket.sign == "(":
            self.bracket.argument = self._kind_of_argument()
        if sign in "{([":
            self._open(sign, name)
        elif sign in "})]":
            self.bracket = self.bracket.above or self.bracket
        if sign in "{([,;":
            self.key, self.chosen = "", False

    def _open(self, sign: str, name: str) -> None:
        above = self.bracket
        if above.depth < _MAX_DEPTH:
            kind = kind_in_name(name) or (above.argument if sign == "{" else "")
            self.bracket = _Bracket(sign, name, kind, above=above, depth=above.depth + 1)
            if _PARAMETERS.search(name):
                self.bracket.parameters = sign == "(" or self.is_property
            elif sign == "{":
                self.bracket.parameters = above.parameters and above.sign == "("

    def _kind_of_argument(self) -> str:
        """Return the kind that the argument which ends here names by one word: a component's name, '' for none."""
        is_word = self.last.kind == "name" or (self.last.kind == "string" and _TYPE_WORD.fullmatch(self.last.text))
        return kind_in_name(self.last.text) if is_word else ""

    def _note_request(self, kind: str) -> None:
        """Note the kind that parameters name for the object and the call around them, which may hold the address."""
        around = self.bracket.above
        if around is not None and around.parameters:  # URLSearchParams({…}): the call around it holds the address
            around = around.above
        elif around is not None and around.sign == "{" and not around.typed:
            call = around.above
            if call is None or call.sign != "(" or not call.kind:
                around.kind = around.kind or kind
            around = call
        if around is not None and around.sign == "(":
            around.kind = around.kind or kind

    def _end_value(self) -> None:
        """End an expression, whose known text may be a constant, the type of its object, or an address."""
        value, self.value = self.value, None
        if value is None or not value.known:
            return
        key, text = value.key.lower(), _OWN_ORIGIN.sub("", value.known)
        if value.open and len(text) <= MAX_HREF_CHARS and key and len(self.constants) < _MAX_CONSTANTS:
            self._remember(value.key, value.known)
        bracket = self.bracket
        if key in _TITLE_KEYS and not bracket.title:
            bracket.title = text
        elif key and bracket.sign == "{":
            self._note_type(key, text)
        elif bracket.sign == "[" and not bracket.typed and text.lower().removeprefix("ogc:") in KIND_WORDS:
            bracket.kind, bracket.typed = kind_in_name(text), True
        if len(self.found) >= MAX_ADDRESSES:
            return
        if "\\u002" in text:  # JSON within a string, whose slashes are escaped again
            text = unescape(text)
        if _may_be_address(text):
            self.found.append(_AddressString(text, value.key, bracket, value.open))
        elif _may_contain_addresses(text):
            self.texts.append(text)

    def _note_type(self, key: str, text: str) -> None:
        """Note the kind that a value names. A key for types counts before any other, and may name a type of no kind."""
        bracket = self.bracket
        if _TYPE_KEY.search(key):
            kind = kind_in_name(text)
            if kind and key == "service" and bracket.parameters:
                self._note_request(kind)
            if kind or not bracket.typed:
                bracket.kind = kind
            bracket.typed = True
        elif not bracket.kind and not bracket.typed and _TYPE_WORD.fullmatch(text):
            bracket.kind = kind_in_name(text)

    def _remember(self, name: str, text: str) -> None:
        self.constants[name.rpartition(".")[2]] = text
        self.constants[name] = text
        if self.bracket.sign == "{" and self.bracket.name:
            self.constants[f"{self.bracket.name}.{name}"] = text

    def _constant(self, name: str) -> str | None:
        name = name.replace("?.", ".")
        if name in self.constants:
            return self.constants[name]
        owner, _, last = name.rpartition(".")
        if owner in ("this", "self", "window", "that", "_this"):
            known = self.constants.get(last)
        else:
            known = self.constants.get(".".join(name.split(".")[-2:]))
        if known is None:
            self.missing.add(name)
        return known

    def read(self, code: str) -> _Reader:
        """Read a script to its end."""
        for token in read_tokens(code):
            self.take(token)
        self._end_value()
        return self


def addresses_in_code(code: str, where: str, *, relative: bool = True) -> Iterator[RawLink]:
    """Yield the addresses in a script or configuration that may be services, in order, each once.

    `where`: value for `RawLink.where`. `relative`: whether relative addresses are read; false when their base is
    unknown.
    """
    reader = _Reader().read(code)
    if not reader.missing.isdisjoint(reader.constants):  # a function may join what is defined behind it
        reader = _Reader(constants=reader.constants).read(code)
    seen: set[tuple[str, str]] = set()
    for link in (*_of_strings(reader.found, where, relative=relative), *_of_texts(reader.texts, where, relative)):
        if (link.href, link.kind) not in seen:
            seen.add((link.href, link.kind))
            yield link


def _of_strings(found: Iterable[_AddressString], where: str, *, relative: bool) -> Iterator[RawLink]:
    """Yield the addresses that are whole strings."""
    found = list(_resolved(found))
    absolute = Counter(each.bracket for each in found if _ABSOLUTE.match(each.text) and not _is_of_others(each.key))
    for each in found:
        href = _mended(each.text)
        kind = _kind_of(each)
        is_alone = absolute[each.bracket] == 1 and each.bracket.sign == "{" and bool(each.bracket.kind)
        is_alone = is_alone and _ABSOLUTE.match(each.text) is not None
        if _is_wanted(href, kind, each, relative=relative, is_alone=is_alone):
            title, context = _texts_around(each.bracket)
            yield RawLink(href, where, title, context, kind=kind)


def _resolved(found: Iterable[_AddressString]) -> Iterator[_AddressString]:
    """Yield the addresses, each `new URL(path, base)` as one (URL standard, 6.1)."""
    path: _AddressString | None = None
    for each in found:
        if path is not None and path.bracket is each.bracket and _ABSOLUTE.match(each.text):
            yield replace(each, text=urljoin(each.text, path.text), whole=each.whole and path.whole)
            path = None
            continue
        if path is not None:
            yield path
        path = None
        if each.bracket.name == "URL" and each.bracket.sign == "(" and not _ABSOLUTE.match(each.text):
            path = each
        else:
            yield each
    if path is not None:
        yield path


def _of_texts(texts: Iterable[str], where: str, relative: bool) -> Iterator[RawLink]:
    """Yield the addresses within strings that are HTML, a list or a text."""
    chars = 0
    for text in texts:
        chars += len(text)
        if chars > MAX_TEXT_CHARS:
            return
        if relative and "<" in text:
            for found in _ATTRIBUTE.finditer(text):
                if found[1].startswith("/") and may_be_service(found[1]):
                    yield RawLink(_mended(found[1]), where)
        for link in addresses_in_text(text.translate(_SEPARATORS), where=where):
            if not _TILE_NUMBER.search(link.href) and not _IN_BRACES.search(link.href.partition("?")[0]):
                yield link


def _may_be_address(text: str) -> bool:
    """Return whether a string may be an address: absolute, or relative to its host's root or its folder."""
    if not 3 < len(text) <= MAX_HREF_CHARS or _BAD.search(text.strip()):
        return False
    if _ABSOLUTE.match(text) or _ESCAPED_ADDRESS.match(text):
        return True
    return "/" in text and "://" not in text and (text.startswith("/") or may_be_service(text))


def _may_contain_addresses(text: str) -> bool:
    """Return whether a string that is no address may contain some."""
    return len(text) > 12 and "/" in text and ("://" in text or "<" in text) and may_be_service(text)


def _mended(text: str) -> str:
    text = text.strip()
    if _ESCAPED_ADDRESS.match(text):
        text = unquote(text)
    while "&amp;" in text:
        text = text.replace("&amp;", "&")
    return _SUBDOMAIN.sub("a", text)


def _kind_of(found: _AddressString) -> str:
    """Return the kind named by the key of an address or by the brackets around it; '' for none."""
    kind = kind_in_name(found.key)
    if not kind and _PICTURE_KEY.search(found.key.lower()):
        return ""
    bracket: _Bracket | None = found.bracket
    for _ in range(_MAX_CLIMB):
        if kind or bracket is None:
            break
        kind = bracket.kind
        if bracket.typed or (bracket.sign != "(" and _PICTURE_KEY.search(bracket.name.lower())):
            break
        bracket = bracket.above
    return kind


def _is_of_others(key: str) -> bool:
    """Return whether a key says that its address is a picture's or a document's."""
    last = key.lower().rpartition(".")[2]
    return bool(_PICTURE_KEY.search(last) or _OTHER_KEY.search(last))


def _is_wanted(href: str, kind: str, found: _AddressString, *, relative: bool, is_alone: bool) -> bool:
    """Return whether an address looks like a service, or reveals nothing but has a kind named next to it.

    `is_alone`: whether its object names a kind and no other address, so that its key, in any language, is one for
    addresses."""
    if _TILE_NUMBER.search(href) and "service=" not in href.lower():
        return False
    if _IN_BRACES.search(href.partition("?")[0]):
        return False
    if not relative and not href.startswith(("http", "/")):
        return False
    if may_be_service(href):
        return True
    key = found.key.lower().rpartition(".")[2]
    if not kind or not (found.whole or href.endswith("?")) or _is_of_others(key):
        return False
    if is_alone:
        return True
    if not key and found.bracket.sign != "(":
        return found.bracket.sign == "[" and found.bracket.typed and may_be_of_kind(href, kind)
    return not key or _ADDRESS_KEY.search(key) is not None or bool(kind_in_name(key))


def _texts_around(bracket: _Bracket) -> tuple[str, str]:
    """Return the nearest title around an address, and the name of the function that the address is passed to."""
    title, called = "", ""
    above: _Bracket | None = bracket
    for _ in range(_MAX_CLIMB):
        if above is None:
            break
        title = title or above.title
        called = called or (above.name if above.sign == "(" else "")
        above = above.above
    return fold(title, MAX_CONTEXT_CHARS), called[:MAX_CONTEXT_CHARS]


# --------------------------------------------------------------------------- tokens
# Reading is tolerant: characters that are no token are skipped, and a string without a closing quote ends with its
# line. Every pattern is unambiguous (no two ways to match one text), so reading takes time proportional to the length.


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
    while match := _TOKEN.search(code, position, end):
        kind, text = match.lastgroup or "", match[0]
        position = match.end()
        if kind == "comment":
            if text == "/*":
                position = code.find("*/", position, end) + 2
                if position == 1:
                    return
            continue
        if text == "/" and before in _BEFORE_REGEX and (regex := _REGEX.match(code, match.start(), end)):
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
