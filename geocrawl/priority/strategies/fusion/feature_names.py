"""Name the features of a link for fusion, hash them into buckets, and name the arms of fusion's bandits.

A feature is a name such as `anchor:wms`, with value 1 when the link has it (the hashing trick: Weinberger et al.,
Feature hashing for large scale multitask learning, ICML 2009). Names of features of one site contain its host, so that
weights of a path or a menu apply to that site only; all other names mean the same on every web. An arm is a group of
links on which requests have been spent: those of a host, a folder, a URL pattern, an anchor text, or one page. The
arm's name is a feature too. Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer text is split into pairs of
neighbouring characters, which needs no dictionary and is as fast as words.

`generic_names` refer to no word, host or path: only these features may have weights before a crawl.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote
from zlib import crc32

from geocrawl.model import FIRST_SUB_QUEUE, Relevance, SubQueue

BUCKETS = 1 << 18
LINK_ARMS = 4
ARM_KINDS = ("host", "folder", "anchor", "pattern", "kin", "page", "hit")
"""The first `LINK_ARMS` are the link's own. `kin`: links of one pattern on pages of one pattern; `page`: finds by links
of the same page; `hit`: finds on that page itself.
"""
FAR = 5
"""Steps since the last find, or since a page near the topic, are counted up to this."""
_URL_WORDS = 12
_ANCHOR_WORDS = 10
_CONTEXT_WORDS = 12
_LATIN = "a-z\u00df-\u00f6\u00f8-\u024f\u0300-\u036f\u1e00-\u1eff"
_MARKED = "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0980-\u09e3\u0a00-\u0ddf"
"""Points of Hebrew and Arabic and the scripts of India, whose vowel signs are no letters to `re`."""
_THAI = "\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u103e\u1780-\u17d3"
"""Thai, Lao, Burmese and Khmer, which have such signs too, and no spaces between words."""
_WORD = re.compile(rf"[{_LATIN}]{{2,}}|[{_THAI}]+|(?:[{_MARKED}]|[^\W\d_{_LATIN}{_THAI}])+")
_UNSPACED = re.compile(rf"[{_THAI}\u3040-\U0010ffff]")
_DIGITS = re.compile(r"\d+")
_BROKEN = re.compile(r"[0-9a-f]{12,}")
_SLUG = re.compile(r"[a-z]+(?:[-_][a-z0]+)+|%[0-9a-f]{2}[^/]*")
_R_STEPS = (0.001, 0.1, 0.3, 0.5, 0.68, 0.85)
_NEAR_STEPS = (0.02, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.35)
_ANCHOR_STEPS = (0.001, 0.05, 0.1, 0.2, 0.35)
_ODDS_STEPS = (-5.0, -3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 3.0)
SHARE_LIMITS = (0.0, 0.05, 0.15, 0.35, 0.65)
"""Mean rewards of an arm above which the next step of its state begins."""
_PLACES = ("stays", "sister", "leaves")
_FORMS = ("none", "number", "short", "word", "words")
_TAGS = ("a", "area", "frame", "iframe", "link", "form", "xml", "sitemap", "meta-refresh")


class Features(NamedTuple):
    """Features and arms of a link that come from one kind of evidence."""

    names: tuple[str, ...]
    arms: tuple[str, ...]


class PageContext(NamedTuple):
    """The evidence that all links of a page have in common."""

    identity: str
    r: float
    """cos(T, P)."""
    nearness: float
    """Cosine with the topic over all words, in units of a typical page on the topic."""
    depth: int
    links: int
    since_find: int
    """Steps on the path to this page since a page with a find; `FAR` without one."""
    tunnel: int
    """Pages without relevance in a row before this one."""


def bucket(name: str) -> int:
    """Return the bucket of a name, the same on every machine and in every process."""
    return crc32(name.encode("utf-8", "surrogatepass")) & (BUCKETS - 1)


def buckets(names: Iterable[str]) -> tuple[int, ...]:
    """Return the bucket of each name, as `bucket` does, whose call costs as much as its work."""
    return tuple([crc32(name.encode("utf-8", "surrogatepass")) & (BUCKETS - 1) for name in names])


def of_url(identity: str) -> Features:
    """Return path prefixes, shape and words of an address as features, and the arms host, folder and pattern."""
    host, path, query = _split(identity)
    segments = [part for part in path.split("/") if part]
    folders = segments if path.endswith("/") else segments[:-1]
    last = "" if path.endswith("/") or not segments else segments[-1]
    extension = last.rpartition(".")[2] if "." in last else ""
    parameters = sorted({part.partition("=")[0].lower() for part in query.split("&") if part})
    shape = _shape(path) + ("?" + "&".join(parameters[:4]) if parameters else "")
    names = [
        f"prefix:{host}/{'/'.join(folders[:1])}",
        f"path:{host}/{'/'.join(folders)}",
        f"shape:{shape}",
        f"extension:{extension.lower()[:6]}",
        f"deep:{min(len(segments), 6)}",
        f"query:{min(len(parameters), 3)}",
        *(f"parameter:{name}" for name in parameters[:4]),
        *(f"host word:{word}" for word in words(host, 4)),
        *(f"url:{word}" for word in words(_unquoted(path + " " + query), _URL_WORDS)),
    ]
    return Features(tuple(names), (f"host:{host}", f"folder:{host}/{'/'.join(folders[:2])}", f"pattern:{host}{shape}"))


def of_text(anchor: str, context: str, where: str, host: str) -> Features:
    """Return the words of anchor and context and the whole anchor on this host as features, and the arm anchor."""
    seen = of_anchor(anchor)
    names = (f"where:{where}", of_menu(host, whole_anchor(anchor)), *seen.names, *of_context(context))
    return Features(names, seen.arms)


def of_anchor(anchor: str) -> Features:
    """Return the words of an anchor as features, and the arm anchor."""
    names = (f"anchor:{word}" for word in words(anchor, _ANCHOR_WORDS))
    return Features(tuple(names), (f"whole anchor:{_DIGITS.sub('0', whole_anchor(anchor))}",))


def of_context(context: str) -> tuple[str, ...]:
    """Return the words around a link as features."""
    return tuple(f"near:{word}" for word in words(context, _CONTEXT_WORDS))


def of_menu(host: str, whole: str) -> str:
    """Return the feature of a `whole_anchor` on links to this host."""
    return f"menu:{host} {whole}"


def whole_anchor(anchor: str) -> str:
    """Return an anchor in lower case with single spaces, at most 60 characters."""
    return " ".join(anchor.lower().split())[:60]


def of_page(page: PageContext) -> Features:
    """Return relevance, depth, size and path of the link's page as features, and the arms page and hit."""
    names = (
        "any",
        f"page r:{bisect_right(_R_STEPS, page.r)}",
        f"page cos:{bisect_right(_NEAR_STEPS, page.nearness)}",
        f"page depth:{min(page.depth, 6)}",
        f"page links:{min(page.links, 255).bit_length()}",
        f"since find:{page.since_find}",
        f"tunnel:{min(page.tunnel, FAR)}",
    )
    return Features(names, (f"page:{page.identity}", f"hit:{page.identity}"))


def of_words(cosine: int, bayes: int, form: str) -> tuple[str, ...]:
    """Return the features of a link's words by trained models (`word_models`), and of the anchor's form.

    The arguments are what `cosine_step`, `odds_step` and `form_of` return.
    """
    return (f"anchor cos:{cosine}", f"bayes:{bayes}", f"words:{min(cosine, 2)} {bayes // 2}", f"form:{form}")


def cosine_step(nearness: float) -> int:
    """Return the step of an anchor's cosine with the topic."""
    return bisect_right(_ANCHOR_STEPS, nearness)


def odds_step(odds: float) -> int:
    """Return the step of the classifier's log odds of a link."""
    return bisect_right(_ODDS_STEPS, odds)


def of_both(link_level: Relevance, page_level: Relevance, place: str) -> tuple[str, ...]:
    """Return the features of the sub-queue in which gws would put the link (eq. 4), and of leaving the host.

    `place` is what `place_of` returns.
    """
    return f"sub-queue:{SubQueue(link_level, page_level).number}", f"place:{place}"


def generic_names() -> list[str]:
    """Return every name that means the same on any web in any language: only these may have shipped weights."""
    names = ["any", *(f"form:{form}" for form in _FORMS), *(f"where:{tag}" for tag in _TAGS)]
    counted = {
        "page r": len(_R_STEPS) + 1,
        "page cos": len(_NEAR_STEPS) + 1,
        "page depth": 7,
        "page links": 9,
        "since find": FAR + 1,
        "tunnel": FAR + 1,
        "anchor cos": len(_ANCHOR_STEPS) + 1,
        "bayes": len(_ODDS_STEPS) + 1,
        "sub-queue": FIRST_SUB_QUEUE + 1,
    }
    names += [f"{kind}:{n}" for kind, count in counted.items() for n in range(count)]
    names += [f"words:{n} {m}" for n in range(3) for m in range(len(_ODDS_STEPS) // 2 + 1)]
    names += [f"place:{place}" for place in _PLACES]
    names += [f"{kind} so far:0 0" for kind in ARM_KINDS]
    return names + [f"{kind} so far:{n} {m}" for kind in ARM_KINDS for n in range(1, 7) for m in range(6)]


def words(text: str, most: int) -> list[str]:
    """Return the first `most` different words of `text`: Latin words of two letters or more, other character pairs."""
    if text.isascii():
        return list(dict.fromkeys(_WORD.findall(text.lower())))[:most]
    found: dict[str, None] = {}
    for word in _WORD.findall(text.lower()):
        for part in _parts(word):
            found[part] = None
        if len(found) >= most:
            break
    return list(found)[:most]


def host_of(identity: str) -> str:
    """Return the host (and port) of a canonical address."""
    return identity.partition("://")[2].partition("/")[0].partition("?")[0]


def arm_state(kind: str, visits: float, reward: float) -> str:
    """Return the feature of an arm's state: its visits on a doubling scale, and their mean reward in steps."""
    size = min(int(visits), 63).bit_length()
    share = reward / visits if visits else 0.0
    return f"{kind} so far:{size} {bisect_left(SHARE_LIMITS, share)}"


def top(weights: Mapping[str, float], most: int) -> dict[str, float]:
    """Return the `most` weights farthest from 0, farthest first."""
    order = sorted(weights, key=lambda name: (-abs(weights[name]), name))
    return {name: round(weights[name], 3) for name in order[:most] if abs(weights[name]) >= 0.001}


def form_of(anchor: str) -> str:
    """Return the form of an anchor, one of `_FORMS`."""
    if not anchor:
        return "none"
    if anchor.isdigit():
        return "number"
    if len(anchor) <= 3:
        return "short"
    return "words" if len(anchor) > 24 else "word"


def place_of(link_host: str, page_host: str) -> str:
    """Return where a link leads, seen from its page, one of `_PLACES`."""
    if link_host == page_host:
        return "stays"
    return "sister" if link_host.split(".")[-2:] == page_host.split(".")[-2:] else "leaves"


def _split(identity: str) -> tuple[str, str, str]:
    rest = identity.partition("://")[2]
    place, _, query = rest.partition("?")
    host, slash, path = place.partition("/")
    return host, slash + path, query


def _shape(path: str) -> str:
    """Return the path with 0 for each number and h for each hash, at most 80 characters."""
    return _DIGITS.sub("0", _BROKEN.sub("h", path))[:80]


def template_of(identity: str) -> str:
    """Return the address of a page without its host, with 0, h and ~ for numbers, hashes and words that are joined by
    hyphens, and the names of its parameters: equal for pages that a site makes from one template."""
    _, path, query = _split(identity)
    parameters = sorted({part.partition("=")[0].lower() for part in query.split("&")})
    return f"{_SLUG.sub('~', _shape(path.lower()))}?{'&'.join(parameters[:4])}"


def _unquoted(text: str) -> str:
    return unquote(text) if "%" in text else text


def _parts(word: str) -> Iterator[str]:
    if len(word) <= 2 or _UNSPACED.match(word) is None:
        yield word
    else:
        yield from (word[i : i + 2] for i in range(min(len(word), 12) - 1))
