"""Write addresses in prose as people do: bracketed, wrapped, apart from their query, without their scheme."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from html import escape

_BRACKETS: Mapping[str, Sequence[str]] = {
    "en": ("({u}).", "&lt;{u}&gt;,", "“{u}”", "{u};"),
    "de": ("„{u}“", "»{u}«", "({u})", "{u}."),
    "zh": ("（{u}）。", "「{u}」", "{u}，", "《{u}》"),
    "ja": ("「{u}」", "（{u}）", "{u}。", "『{u}』"),
}
_APART: Mapping[str, str] = {
    "en": "{b} with the parameters {q}",
    "de": "{b} mit den Parametern <tt>{q}</tt>",
    "zh": "{b}，参数：{q}。",
    "ja": "{b} パラメータ <code>{q}</code>",
}


def written(rng: random.Random, url: str, language: str) -> str:
    """Return the HTML of an address in one of the ways in which people write one, none of them a link."""
    ways: list[Callable[[random.Random, str, str], str]] = [_bracketed, _soft]
    if "equest=" in url.lower():
        ways += [_apart, _wrapped, _bare]
    return rng.choice(ways)(rng, url, language)


def _bracketed(rng: random.Random, url: str, language: str) -> str:
    return rng.choice(_BRACKETS[language]).format(u=escape(url))


def _soft(rng: random.Random, url: str, language: str) -> str:
    sign = rng.choice(("&#8203;", "<wbr>", "&shy;"))
    scheme, _, rest = url.partition("://")
    return f"{scheme}://" + escape(rest).replace("/", f"/{sign}")


def _apart(rng: random.Random, url: str, language: str) -> str:
    base, query = _split(url)
    return _APART[language].format(b=escape(base), q=escape(query))


def _wrapped(rng: random.Random, url: str, language: str) -> str:
    base, query = _split(url)
    mark = "" if base.endswith("&") else "?" if "?" not in base else "&amp;"
    return f"<pre>\n   {escape(base)}{mark}\n   " + escape(query).replace("&amp;", "&amp;\n   ") + "</pre>"


def _bare(rng: random.Random, url: str, language: str) -> str:
    return escape(url.partition("://")[2])


def _split(url: str) -> tuple[str, str]:
    """Return an address with its own parameters, and its request."""
    place, _, query = url.partition("?")
    parts = [part for part in query.split("&") if part]
    own = [part for part in parts if part.partition("=")[0].lower() in ("map", "theme", "set")]
    return place + ("?" + "&".join(own) if own else ""), "&".join(part for part in parts if part not in own)
