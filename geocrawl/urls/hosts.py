"""Read the part of a URL before its path: host, port, origin and registered domain, and recognise private names.

Hosts are read as browsers read them (WHATWG URL standard, sections 3.5 "host parsing" and 3.6 "IPv4 parser"), so that a
number in any spelling (2130706433, 127.1, 0x7f.1, 0177.0.0.1) is recognised as an IP address before anybody connects to
it.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?")
# RFC 1035, 2.3.4: labels of at most 63 octets. Underscores and outer hyphens are not in the standard, but exist.
_DNS_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_MAX_NAME_CHARS = 253
_MAX_WRITTEN_CHARS = 9 * _MAX_NAME_CHARS  # every character as three escaped bytes
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_OWN_MACHINE = "localhost"
_PRIVATE_NAMES = (_OWN_MACHINE, "local", "internal", "home.arpa")
"""Names that no public host bears, nor any name below them: `localhost` is the machine itself (RFC 6761, 6.3), the
others are kept for private networks (`local`: RFC 6762, 3; `internal`: ICANN's board on 29 July 2024; `home.arpa`:
RFC 8375)."""


class Authority(NamedTuple):
    """The part of a URL between `//` and the path, without user name and password."""

    host: str
    """Lower-case name (IDNA) or literal address; IPv6 without brackets."""
    origin: str
    """scheme://host[:port]"""
    site: str
    """Registered domain of the host (`site_of`)."""


@lru_cache(maxsize=8192)
def read_authority(scheme: str, text: str) -> Authority | None:
    """Return host, origin and site of `[user[:password]@]host[:port]`; None when the host or port is not valid."""
    match = _HOST_AND_PORT.fullmatch(text.rpartition("@")[2])
    if match is None:
        return None
    host = read_host(match[1])
    digits = (match[2] or str(_DEFAULT_PORTS[scheme])).lstrip("0") or "0"
    if host is None or len(digits) > 5 or (port := int(digits)) > 65535:
        return None
    origin = f"{scheme}://[{host}]" if ":" in host else f"{scheme}://{host}"
    if port != _DEFAULT_PORTS[scheme]:
        origin += f":{port}"
    return Authority(host, origin, site_of(host))


def read_host(text: str) -> str | None:
    """Return a host in its canonical spelling; None for a text that is no host.

    That is a lower-case IDNA name (UTS 46), dotted IPv4, or compressed IPv6 without brackets.
    """
    if text.startswith("["):
        return _read_ipv6(text[1:-1])
    if len(text) > _MAX_WRITTEN_CHARS:
        return None
    name: str | None = text.lower()
    if "%" in text or not text.isascii():
        name = _to_ascii(text)
    if name is None:
        return None
    name = name.removesuffix(".")
    if len(name) > _MAX_NAME_CHARS or _DNS_NAME.fullmatch(name) is None:
        return None
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _read_ipv4(name.split("."))
    return name


@lru_cache(maxsize=8192)
def site_of(host: str) -> str:
    """Return the registered domain of a host: `example.co.uk` for `a.b.example.co.uk`.

    By the public suffix list in the package `publicsuffixlist`; nothing is fetched. The host itself when it is an IP
    address or has no registered domain.
    """
    if ":" in host or host.rpartition(".")[2].isdigit():
        return host
    return _private_suffix(host) or host


def is_registry(host: str) -> bool:
    """Return whether a host is a public suffix, under which anybody may register a name: com, co.uk, github.io."""
    if ":" in host or host.rpartition(".")[2].isdigit():
        return False
    return _private_suffix(host) is None


def is_own_machine(host: str) -> bool:
    """Return whether a name means, by its standard, the machine that looks it up: `localhost` and all below it."""
    return _is_at_or_below(host, _OWN_MACHINE)


def is_private_name(host: str) -> bool:
    """Return whether a name belongs, by a standard, to no public host: `localhost`, `nas.local`, `router.home.arpa`."""
    return any(_is_at_or_below(host, name) for name in _PRIVATE_NAMES)


def _is_at_or_below(host: str, name: str) -> bool:
    return host == name or host.endswith("." + name)


def _private_suffix(host: str) -> str | None:
    """Return the registered domain of a name in IDNA; None when it is a public suffix itself."""
    written = ".".join(map(_to_unicode, host.split("."))) if "xn--" in host else host
    suffix = _suffixes().privatesuffix(written)
    return suffix if suffix is None or written is host else ".".join(host.split(".")[-1 - suffix.count(".") :])


def _to_unicode(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode") or label
    except UnicodeError:
        return label


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    """Return the list in Unicode: its rules in IDNA as well would take two thirds of the time to load it."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(accept_encoded_idn=False)


def _to_ascii(text: str) -> str | None:
    """Return a name with percent-encoded or non-ASCII characters in IDNA, as browsers send it: by UTS 46, which allows
    symbols that IDNA 2008 does not."""
    import idna

    try:
        name = idna.uts46_remap(unquote(text, errors="strict"), std3_rules=False)
        return ".".join(label if label.isascii() else _encoded(label) for label in name.split("."))
    except (idna.IDNAError, UnicodeError, ValueError):
        return None


def _encoded(label: str) -> str:
    """Return a label in Punycode. Raises idna.IDNAError, ValueError for one that breaks a rule of UTS 46 (4.1)."""
    import idna

    idna.check_initial_combiner(label)
    idna.check_bidi(label)
    if not all(idna.valid_contextj(label, at) for at, character in enumerate(label) if character in "\u200c\u200d"):
        raise idna.IDNAError("a joiner that joins nothing")
    return "xn--" + label.encode("punycode").decode("ascii")


def _read_ipv4(parts: list[str]) -> str | None:
    """Return dotted IPv4 for up to four numbers; None for anything else (WHATWG URL standard, "IPv4 parser").

    Numbers are decimal, octal (0…) or hexadecimal (0x…), and the last one fills the remaining bytes.
    """
    numbers = [_read_number(part) for part in parts]
    if len(parts) > 4 or None in numbers:
        return None
    *firsts, last = [n for n in numbers if n is not None]
    if any(n > 255 for n in firsts) or last >= 256 ** (4 - len(firsts)):
        return None
    return str(ipaddress.IPv4Address(sum(n << (24 - 8 * i) for i, n in enumerate(firsts)) + last))


def _read_number(text: str) -> int | None:
    if text.startswith("0x"):
        digits, base = text[2:], 16
    else:
        digits, base = text, 8 if len(text) > 1 and text.startswith("0") else 10
    try:
        return int(digits or "0", base)
    except ValueError:
        return None


def _read_ipv6(text: str) -> str | None:
    if "%" in text:  # a zone names an interface of this machine: never part of a web address
        return None
    try:
        return ipaddress.IPv6Address(text).compressed
    except ValueError:
        return None


def in_url(host: str) -> str:
    """Return a host as it stands in an address: one of IPv6 in brackets (RFC 3986, 3.2.2)."""
    return f"[{host}]" if ":" in host else host
