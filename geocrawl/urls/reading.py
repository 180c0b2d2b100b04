"""Read a URL as browsers do (WHATWG URL standard) into its two texts: the address to request and the identity.

The *address* keeps the site's own escaping byte for byte. Only what cannot stand in a request line is escaped (space,
control characters, `"`, `<`, `>`, and non-ASCII as UTF-8); scheme and host are in lower case, and default port, dot
segments, user name and fragment are removed.

The *identity* is the same for two spellings of one page. Beyond the address:

- percent-encoding is uniform (RFC 3986, 6.2.2): unreserved characters decoded, the rest upper case, characters that
  RFC 3986 does not allow (`|`, `[`, `{`, a lone `%` …) encoded; reserved ones stay as written, since `%2F` is not `/`;
- tracking parameters and session ids are removed (`data/url_parameters.toml`; ASP.NET's `/(S(…))/` too), and so are
  an empty query and empty parts of one;
- the query is sorted when every part is name=value and no name occurs twice: such a query is read by name. Any other
  may be read by position and keeps its order.

What a URL cannot prove stays distinct: http and https, with and without `www.`, `/` and `/index.html` (often one page,
but not on every server, and losing a page costs more than fetching one twice), `+` and `%20`.

A link is joined with its base by cutting strings, then read by one cached function of the absolute text. Navigation
repeats on every page of a site, so most links of a page cost one look-up, whatever page they are on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from geocrawl.model import Url
from geocrawl.urls.hosts import read_authority

MAX_TEXT_CHARS = 65_536
"""Longer texts are no addresses: no server reads a request line of that length (most stop at 8 KiB)."""
_MAX_CACHED_CHARS = 1024

_UNSAFE = re.compile(r"[^\x21\x23-\x3b\x3d\x3f-\x7e]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ABSOLUTE = re.compile(r"(https?):[/\\]*([^/\\?#]*)([^?#]*)(?:\?([^#]*))?", re.IGNORECASE)
_C0_AND_SPACE = "".join(map(chr, range(0x21)))

# Most paths and queries consist of these characters alone and are canonical as they are, except for dot segments.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_~!$&'*+,=:@/.-]*")
_PLAIN_QUERY = re.compile(r"[A-Za-z0-9_~!$&'()*+,;=:@/?.-]*")
_NOT_CANONICAL_IN_PATH = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_~!$&'()*+,;=:@/.-]")
_NOT_CANONICAL_IN_QUERY = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_~!$&'()*+,;=:@/?.-]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")  # RFC 3986, 2.3
_PATH_PARAMETER = re.compile(r";[A-Za-z0-9_]{1,60}=[^/;]*")
_DOTNET_SESSION = re.compile(r"/\((?:[A-Z]\([A-Za-z0-9_-]{16,1024}\))+\)(?=/|\Z)")  # cookieless ASP.NET: /(S(…))/


def read_url(text: str, base: Url | str | None = None) -> Url | None:
    """Return the URL that a link's text means on a page at `base`; never raise.

    None for a scheme other than http and https, for a text without a host, and for a relative one without a base.
    """
    if len(text) > MAX_TEXT_CHARS:
        return None
    if not text.startswith(("http://", "https://")):
        joined = _join(_mend(text), base)
        if joined is None:
            return None
        text = joined
    return _read_cached(text) if len(text) <= _MAX_CACHED_CHARS else read_absolute(text)


def read_absolute(text: str) -> Url | None:
    """Return the URL of a text that begins with its scheme; None when it is malformed or not http or https."""
    if _UNSAFE.search(text):
        text = _mend(text)
    match = _ABSOLUTE.match(text)
    if match is None:
        return None
    scheme = match[1].lower()
    authority = read_authority(scheme, match[2])
    if authority is None:
        return None
    host, origin, site = authority
    path, query = _address_path(match[3]), match[4]
    address = f"{origin}{path}" if query is None else f"{origin}{path}?{query}"
    identity = origin + canonical_path(path)
    if query:
        query = canonical_query(query)
        if query:
            identity = f"{identity}?{query}"
    return Url(address if identity == address else identity, address, scheme, host, origin, site)


@lru_cache(maxsize=16_384)
def _read_cached(text: str) -> Url | None:
    return read_absolute(text)


# --------------------------------------------------------------------------- from a link's text to an absolute one


def _mend(text: str) -> str:
    """Return a text in printable ASCII.

    Outer white space, tabs and line ends are removed, as browsers do; everything else is percent-encoded.
    """
    if not _UNSAFE.search(text):
        return text
    text = text.strip(_C0_AND_SPACE).replace("\t", "").replace("\n", "").replace("\r", "")
    if not text.isascii():  # surrogates, from a script's escapes, are joined to pairs or become U+FFFD
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _join(text: str, base: Url | str | None) -> str | None:
    """Return the absolute text of a mended reference (RFC 3986, 5.2).

    As lenient as browsers with `\\`, `http:path` and `http:/path`. None when it is not http or https, or relative
    without a base.
    """
    if isinstance(base, str):
        base = read_url(base)
    if scheme := _SCHEME.match(text):
        name, rest = scheme[1].lower(), text[scheme.end() :]
        if name not in ("http", "https"):
            return None
        if base is None or base.scheme != name:
            return text
        text = rest
    if base is None:
        return None
    if not text or text[0] == "#":
        return base.address
    if text[0] in "/\\":
        return f"{base.scheme}:{text}" if text[1:2] in ("/", "\\") else base.origin + text
    page = base.address.partition("?")[0]
    return page + text if text[0] == "?" else page[: page.rindex("/") + 1] + text


# --------------------------------------------------------------------------- paths and queries


def _address_path(path: str) -> str:
    """Return a path as it is requested: backslashes turned into `/`, dot segments removed, all else as written."""
    if "\\" in path:
        path = path.replace("\\", "/")
    return remove_dot_segments(path) or "/"


def remove_dot_segments(path: str) -> str:
    """Return a path, which is empty or begins with `/`, without dot segments (RFC 3986, 5.2.4).

    `%2e` counts as a dot (WHATWG URL standard).
    """
    if "/." not in path and "/%2" not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        dots = segment.replace("%2e", ".").replace("%2E", ".") if len(segment) <= 6 else segment
        if dots == "..":
            if len(kept) > 1:
                kept.pop()
        elif dots != ".":
            kept.append(segment)
    if dots in (".", ".."):
        kept.append("")
    return "/".join(kept)


def canonical_path(path: str) -> str:
    """Return the canonical spelling of an address' path, without session ids. `path` begins with `/`."""
    return path if _PLAIN_PATH.fullmatch(path) else canonical_unusual_path(path)


def canonical_unusual_path(path: str) -> str:
    """Return what `canonical_path` does, for any path: most are canonical already and skip this work."""
    path = _NOT_CANONICAL_IN_PATH.sub(_canonical_escape, path)
    return remove_dot_segments(without_path_session(path)) or "/"


def without_path_session(path: str) -> str:
    """Return a path without session ids such as `;jsessionid=…` and ASP.NET's `/(S(…))`."""
    if ";" in path:
        path = _PATH_PARAMETER.sub(_drop_session, path)
    if "/(" in path:
        path = _DOTNET_SESSION.sub("", path)
    return path


def _drop_session(found: re.Match[str]) -> str:
    name = found[0][1:].partition("=")[0].lower()
    return "" if name in load_parameters().session else found[0]


def canonical_query(query: str) -> str:
    """Return the canonical spelling of a query: noise removed, sorted where that cannot change its meaning.

    It may be ''.
    """
    if not _PLAIN_QUERY.fullmatch(query):
        query = _NOT_CANONICAL_IN_QUERY.sub(_canonical_escape, query)
    is_noise = load_parameters().is_noise
    parts: list[str] = []
    names: set[str] = set()
    by_name = True
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        if not part or is_noise(name, value):
            continue
        parts.append(part)
        names.add(name.lower())
        by_name = by_name and bool(name and equals)
    if by_name and len(names) == len(parts):
        parts.sort()
    return "&".join(parts)


def _canonical_escape(found: re.Match[str]) -> str:
    return _canonical_escape_text(found[0])


@lru_cache(maxsize=1024)
def _canonical_escape_text(text: str) -> str:
    """Return the canonical form of one percent-escape, or of one character that must be escaped."""
    if len(text) == 1:
        return f"%{ord(text):02X}"
    character = chr(int(text[1:], 16))
    return character if character in _UNRESERVED else text.upper()


# --------------------------------------------------------------------------- parameters


# 16 letters and digits of both kinds: PHP, Java and ASP.NET draw 22 to 40; a number of a station or section is shorter.
_RANDOM = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_-]{16,}")


@dataclass(frozen=True, slots=True)
class ParameterNames:
    """A set of lower-case parameter names, some of them stored as prefixes."""

    exact: frozenset[str]
    prefixes: tuple[str, ...]

    def __contains__(self, name: str) -> bool:
        return name in self.exact or name.startswith(self.prefixes)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Names of parameters that are noise in a page's identity, and of those that belong to one request of a service."""

    noise: ParameterNames
    """Tracking parameters and session ids."""
    session: ParameterNames
    session_if_random: ParameterNames
    """Names that are session ids only when their value looks random."""
    request: ParameterNames
    """Parameters of one request of a service that is requested by a query."""
    rest_request: ParameterNames
    """Parameters of one request of a service that is requested by a path."""

    def is_noise(self, name: str, value: str) -> bool:
        """Return whether a query parameter identifies the visitor or referrer, not the content. `name` in any case."""
        name = name.lower()
        return name in self.noise or (name in self.session_if_random and _RANDOM.fullmatch(value) is not None)


@lru_cache(maxsize=1)
def load_parameters() -> Parameters:
    """Return the lists that come with geocrawl; the file is read once."""
    import tomllib

    lists = tomllib.loads(resources.files("geocrawl").joinpath("data/url_parameters.toml").read_text("utf-8"))
    return Parameters(
        noise=_names([*lists["tracking"], *lists["session"]]),
        session=_names(lists["session"]),
        session_if_random=_names(lists["session_if_random"]),
        request=_names(lists["request"]),
        rest_request=_names(lists["rest_request"]),
    )


def _names(entries: Sequence[str]) -> ParameterNames:
    lowered = [entry.lower() for entry in entries]
    return ParameterNames(
        exact=frozenset(e for e in lowered if not e.endswith("*")),
        prefixes=tuple(e[:-1] for e in lowered if e.endswith("*")),
    )
