"""Define the parts of a made web before it is written: sites, pages with their blocks, other answers, services.

A page is a plan: its texts are drawn when the page is written, so that a planned web of many pages needs little memory.
Links name their targets by address; the design decides how a page spells that address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from geocrawl.lab.made_worlds.prose import Names
from geocrawl.lab.made_worlds.vocabulary import Language, Theme, Words


class Anchor(NamedTuple):
    """A link."""

    target: str
    """The target's address, as recorded (`http://host/path?query`)."""
    text: str
    spelt: str = ""
    """The address as the page writes it, where that differs from `target`; not escaped yet."""
    rel: str = ""


class Raw(NamedTuple):
    """HTML that is written unchanged, with the targets of its links."""

    html: str
    targets: tuple[str, ...] = ()


Piece = str | Anchor | Raw


class Prose(NamedTuple):
    """Paragraphs that are drawn when the page is written; some contain a link."""

    paragraphs: int
    within: tuple[Anchor, ...] = ()


class Listing(NamedTuple):
    """A list of links."""

    heading: str
    anchors: tuple[Anchor, ...]


class Facts(NamedTuple):
    """Labelled entries: a table, a definition list, cards …, depending on the design."""

    heading: str
    rows: tuple[tuple[str, tuple[Piece, ...]], ...]


Block = Prose | Listing | Facts | Raw


@dataclass(slots=True)
class Site:
    """A host with its language, theme and design."""

    host: str
    name: str
    language: Language
    theme: Theme
    names: Names
    charset: str
    charset_sent: bool
    """Whether Content-Type names the charset; else only <meta> does."""
    design: str
    manner: int
    """Random number by which the design varies in all other respects."""
    jargon: float
    spoken: bool
    """Whether the site's addresses contain words."""
    navigation: tuple[Anchor, ...] = ()
    footer: tuple[Anchor, ...] = ()
    aside: tuple[Anchor, ...] = ()
    """Links that every page of the site recommends."""

    @property
    def words(self) -> Words:
        """Return the words of the site's theme in its language."""
        return self.theme.words[self.language.code]

    @property
    def home(self) -> str:
        """Return the address of the site's first page."""
        return f"http://{self.host}/"

    def at(self, path: str) -> str:
        """Return the address of a path on the site."""
        return f"http://{self.host}{path}"

    def label(self, key: str) -> str:
        """Return the language's word for a part of every site: home, news …"""
        return self.language.labels[key]


@dataclass(slots=True)
class Page:
    """A page to be written."""

    address: str
    site: Site
    title: str
    blocks: list[Block] = field(default_factory=list)
    jargon: float | None = None
    """Jargon of the page's texts; None: that of the site."""
    frames: tuple[Anchor, ...] = ()
    """Frames, if the page is a frameset."""
    refresh: str = ""
    """Target of <meta http-equiv=refresh>."""
    status: int = 200
    content_type: str = ""
    """Content-Type, where that is not text/html."""
    scripts: tuple[str, ...] = ()
    """Addresses of the scripts that the page loads."""
    copy_of: str = ""
    """Address of the page whose texts it has."""


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """Any other recorded answer."""

    address: str
    content_type: str
    body: str
    status: int = 200
    targets: tuple[str, ...] = ()
    """Addresses to which the answer leads: links, or the target of a redirect."""
    location: str = ""
    """The header Location of a redirect."""
    packed: bool = False
    """Whether the body is sent as a gzip file."""
    retry_after: str = ""
    """The header Retry-After of an answer with status 429 or 503."""
    is_map: bool = False
    """Whether the answer is a site map or a feed: no page, and followed only to pages that no link leads to."""


@dataclass(slots=True, eq=False)
class Service:
    """A service of a made web."""

    id: str
    kind: str
    base: str
    title: str
    site: Site
    behaviour: str
    requires: Mapping[str, str] = field(default_factory=dict)
    aliases: Sequence[str] = ()
    variant: str = ""


class Web:
    """A made web that is being planned: all answers to be recorded."""

    def __init__(self) -> None:
        self.answers: dict[str, Page | OtherAnswer] = {}
        """Address → answer, in the order of writing."""
        self.services: list[Service] = []
        self.named: dict[str, list[tuple[Service, str]]] = {}
        """Address of an answer → the services that the answer names, each with the way of naming."""
        self.disallowed: dict[str, list[str]] = {}
        """Host → prefixes of paths that robots.txt forbids."""
        self.sitemaps: dict[str, list[str]] = {}
        """Host → addresses of site maps that robots.txt names."""
        self.seeds: list[str] = []
        self.pages = 0
        """Number of answers that count as pages."""

    def add(self, answer: Page | OtherAnswer) -> None:
        """Add an answer. Raises ValueError when its address already has one."""
        if answer.address in self.answers:
            raise ValueError(f"{answer.address} has two answers")
        self.answers[answer.address] = answer
        self.pages += counts_as_page(answer)

    def name(self, service: Service, address: str, way: str) -> None:
        """Note that the answer at `address` names a service."""
        named = self.named.setdefault(address, [])
        if (service, way) not in named:
            named.append((service, way))

    def has(self, address: str) -> bool:
        """Return whether the web has an answer at the address."""
        return address in self.answers


def counts_as_page(answer: Page | OtherAnswer) -> bool:
    """Return whether an answer counts as a page in the format: no redirect, script, sitemap, feed, robots.txt."""
    if isinstance(answer, Page):
        return True
    if 300 <= answer.status < 400 or answer.is_map or answer.address.endswith("/robots.txt"):
        return False
    return "javascript" not in answer.content_type
