"""What differs between two runs of the same program, hidden: each pattern with the reason why it may differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Mask(NamedTuple):
    """What is hidden in a text."""

    pattern: re.Pattern[str]
    shown: str
    """What stands in its place; groups of the pattern as in `re.sub`."""
    reason: str


_DAY = r"20\d\d-\d\d-\d\d"
MASKS = (
    Mask(
        re.compile(rf"{_DAY}[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?"),
        "<time>",
        "the machine's clock, when the crawl ran and when it was asked",
    ),
    Mask(re.compile(r"\b[12]\d{9}\.\d+\b"), "<time>", "the machine's clock, as seconds since 1970"),
    Mask(re.compile(r"<time> \[info +\] progress .*\n"), "", "a line every ten seconds of a crawl that lasts so long"),
    Mask(re.compile(_DAY), "<day>", "the machine's clock"),
    Mask(re.compile(r"\b20\d\d-[01]\d\b"), "<month>", "the machine's clock"),
    Mask(re.compile(r"\b\d+(?:\.\d+)? ?(?:ms\b|毫秒)"), "<duration>", "how fast this machine answers itself"),
    Mask(
        re.compile(r'("(?:p?[59]\d|\w+_ms|milliseconds|seconds)": |\bmean_ms = )[\d.]+'),
        r"\1<duration>",
        "how fast this machine answers itself",
    ),
    Mask(re.compile(r'("times": )\{"\d+": 1\}'), r"\1<class>", "how fast this machine answers itself"),
    Mask(
        re.compile(r'points="[\d., ]{200,}"'),
        'points="<curve>"',
        "a curve over the seconds of the crawl, which are those of the machine; bars and short lines are shown",
    ),
    Mask(re.compile(r'("owner": )"[^"]+"'), r"\1<process>", "name of the machine and number of the process"),
    Mask(
        re.compile(r'("schema": )"\d{4}"'),
        r"\1<revision>",
        "every migration makes a new one; tests of upgrades compare it",
    ),
    Mask(re.compile(r'("size": )\[[\d,\s]+\]'), r"\1<size>", "the database's pages on the disk"),
    Mask(re.compile(r"\b\d+\.\d Mi?B\b"), "<size>", "the database's pages on the disk, by the version of its engine"),
    Mask(re.compile(r"\bin \d+(?:\.\d+)? s \([\d.,]+/s\)"), "in <duration>", "how fast this machine crawls"),
    Mask(
        re.compile(r"\b(valid|bytes|again|read again|retried|probed again) in \d[\dsmhd ]*(?<! )"),
        r"\1 in <duration>",
        "how long a crawl took, and the time until something is due",
    ),
    Mask(re.compile(r"(\d\.\d{9})\d+"), r"\1…", "Python 3.12 and later add floats more exactly"),
    Mask(re.compile("Request-URI Too Long"), "URI Too Long", "Python 3.13 has another name for the status 414"),
    Mask(
        re.compile(r"(/static/[\w.]+\?v=)[0-9a-f]{12}"),
        r"\1<digest>",
        "the content of a file, which web/static keeps once",
    ),
    Mask(re.compile(r"127\.0\.0\.1:\d{4,5}\b"), "127.0.0.1:<port>", "a port that was free"),
)
"""Applied in this order to every text."""
VOLATILE_NAMES: Mapping[str, str] = {
    "mean_ms": "how fast this machine answers itself",
}
"""Columns of views whose values are hidden, with the reason; times are hidden by `MASKS`."""
VOLATILE_HEADERS: Mapping[str, str] = {
    "date": "the machine's clock",
    "etag": "made of the catalogue's last change, which has the machine's clock in it",
    "last-modified": "the time at which a shipped file was installed",
    "content-length": "the length of texts that are masked",
}
"""Headers whose values are hidden, with the reason."""


def masked(text: str, own: Mapping[str, str]) -> str:
    """Return a text with all that is volatile hidden; `own` maps names of this run, as of folders, to what is shown."""
    for name in sorted(own, key=len, reverse=True):
        text = text.replace(name, own[name])
    for mask in MASKS:
        text = mask.pattern.sub(mask.shown, text)
    return text
