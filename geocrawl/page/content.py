"""Define the result that all readers of `page` return, and the limits that apply to all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from geocrawl.model import FailureCode, Portion, Url
from geocrawl.model.times import Times
from geocrawl.urls import RECORDS

MAX_TEXT_CHARS = 200_000
MAX_TITLE_CHARS = 500
MAX_ANCHOR_CHARS = 300
MAX_SUMMARY_CHARS = 2_000
MAX_CONTEXT_CHARS = 200
"""Longest context of a link: half of it before the link, half after."""
MAX_HREF_CHARS = 8_000
"""Longest address: longer ones are data or scripts, which `urls` would reject too, but only after parsing them."""


BOUNDARY = "\x1e"
"""Separates blocks in a page's text: the record separator of ASCII, which folds to a space."""


class RawLink(NamedTuple):
    """A link as the page writes it, before its address is parsed."""

    href: str
    where: str
    anchor: str = ""
    context: str = ""
    rel: str = ""
    kind: str = ""
    """Kind of service that the page names for the link, as in `Link`."""
    before: int = 0
    """Number of characters of the context that stand before the link, as in `Link`."""
    tag_path: str = ""
    """Place of the link among the page's elements, as in `Link`."""
    record: int = -1
    """Number of the record that names the link, as in `Link`."""
    times: Times | None = None
    """The time that the data of that record is of, as in `Link`."""


def of_records(found: Iterable[Iterable[RawLink]]) -> list[RawLink]:
    """Return the links of the records of a page, each with the number of its record."""
    return [link._replace(record=number) for number, links in enumerate(found) for link in links]


def to_records(page: Url | None) -> list[RawLink]:
    """Return the link to a page of records, if there is one."""
    return [RawLink(page.address, RECORDS)] if page is not None else []


@dataclass(slots=True)
class PageContent:
    """The text and the links of a page, before addresses are parsed. Fields are those of `Document`."""

    title: str = ""
    text: str = ""
    links: list[RawLink] = field(default_factory=list)
    base: str = ""
    """`<base href>`; '' for a page without one."""
    robots: str = ""
    """Directives of meta robots, joined by ', '."""
    language: str = ""
    summary: str = ""
    headline: str = ""
    prose: str = ""
    anchor_chars: int = 0
    xml_root: str = ""
    xml_namespace: str = ""
    json_keys: tuple[str, ...] = ()
    portion: Portion | None = None
    fault: str = ""

    def keep(self, links: Iterable[RawLink], most: int) -> None:
        """Take the first `most` links; what has more is truncated."""
        found = list(islice(links, most + 1))
        self.links = found[:most]
        if len(found) > most:
            self.fault = FailureCode.TRUNCATED
