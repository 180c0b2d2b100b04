"""What a made web consists of before it is written: sites, pages and the blocks on them, other answers, services.

A page is a plan: its texts are drawn when it is written, so a web of many pages costs little memory until then. Links
name their targets by address; how they are spelt on the page is the design's business.
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
    """The address it leads to, as that is recorded (`http://host/path?query`)."""
    text: str
    spelt: str = ""
    """The address as the page writes it, where that differs; still to be escaped."""
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
    """Links among their like."""

    heading: str
    anchors: tuple[Anchor, ...]


class Facts(NamedTuple):
    """Labelled entries: a table, a definition list, cards …, as the design has it."""

    heading: str
    rows: tuple[tuple[str, tuple[Piece, ...]], ...]


Block = Prose | Listing | Facts | Raw


@dataclass(slots=True)
class Site:
    """A host with its manners."""

    host: str
    name: str
    language: Language
    theme: Theme
    names: Names
    charset: str
    charset_sent: bool
    """Whether Content-Type names the charset, else <meta> alone does."""
    design: str
    manner: int
    """What else the design may vary by."""
    jargon: float
    spoken: bool
    """Whether its addresses carry words."""
    navigation: tuple[Anchor, ...] = ()
    footer: tuple[Anchor, ...] = ()
    aside: tuple[Anchor, ...] = ()
    """What every page of it recommends."""

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
        """Return the language's word for what every site has: home, news …"""
        return self.language.labels[key]


@dataclass(slots=True)
class Page:
    """A page to be written."""

    address: str
    site: Site
    title: str
    blocks: list[Block] = field(default_factory=list)
    jargon: float | None = None
    """Of its texts; None: as the site has it."""
    frames: tuple[Anchor, ...] = ()
    """Of a frameset."""
    refresh: str = ""
    """Where <meta http-equiv=refresh> leads."""
    status: int = 200
    content_type: str = ""
    """What it is sent as, where that is not text/html."""
    scripts: tuple[str, ...] = ()
    """Addresses of scripts it loads."""
    copy_of: str = ""
    """Address of the page whose texts it has."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Any other recorded answer."""

    address: str
    content_type: str
    body: str
    status: int = 200
    targets: tuple[str, ...] = ()
    """Where it leads: links, or the target of a redirect."""
    location: str = ""
    """Header of a redirect."""
    packed: bool = False
    """Whether the body is sent as a gzip file."""
    retry_after: str = ""
    """Header of an answer that asks to be left alone for a while."""
    is_map: bool = False
    """Whether it is a site map or a feed: no page, and a way to pages only where no links lead."""


@dataclass(slots=True, eq=False)
class Service:
    """A service of the web."""

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
    """Gathers what is to be recorded."""

    def __init__(self) -> None:
        self.answers: dict[str, Page | Answer] = {}
        """By address, in the order in which they are written."""
        self.services: list[Service] = []
        self.named: dict[str, list[tuple[Service, str]]] = {}
        """By address of an answer: the services that it names, each with the way."""
        self.disallowed: dict[str, list[str]] = {}
        """Prefixes of paths by host, as robots.txt has them."""
        self.sitemaps: dict[str, list[str]] = {}
        """Addresses by host, as robots.txt names them."""
        self.seeds: list[str] = []
        self.pages = 0
        """Answers that count as pages."""

    def add(self, answer: Page | Answer) -> None:
        """Record an answer; an address has one."""
        if answer.address in self.answers:
            raise ValueError(f"{answer.address} stands twice")
        self.answers[answer.address] = answer
        self.pages += counts_as_page(answer)

    def name(self, service: Service, address: str, way: str) -> None:
        """Note that the answer at `address` names a service."""
        named = self.named.setdefault(address, [])
        if (service, way) not in named:
            named.append((service, way))

    def has(self, address: str) -> bool:
        """Return whether something is recorded at the address."""
        return address in self.answers


def counts_as_page(answer: Page | Answer) -> bool:
    """Return whether an answer counts as a page in the format: no redirect, script, sitemap, feed, robots.txt."""
    if isinstance(answer, Page):
        return True
    if 300 <= answer.status < 400 or answer.is_map or answer.address.endswith("/robots.txt"):
        return False
    return "javascript" not in answer.content_type
