"""Plan the parts that all sites of a made web share: hosts, pages in sections, lists over several pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from geocrawl.lab.made_worlds.exposures import Exposures
from geocrawl.lab.made_worlds.mixture import Mixture
from geocrawl.lab.made_worlds.parts import Anchor, Block, Facts, Listing, Page, Prose, Service, Site, Web
from geocrawl.lab.made_worlds.prose import Names, Writer, organisation, place
from geocrawl.lab.made_worlds.seeded_random import seeded_rng
from geocrawl.lab.made_worlds.services import Services
from geocrawl.lab.made_worlds.vocabulary import Theme, languages

_PATHS = (
    "/{w}/{n}",
    "/{w}/{n}.html",
    "/view.php?id={n}",
    "/index.php?page={w}&nr={n}",
    "/{w}-{n}/",
    "/a{n}.htm",
    "/{n}",
)
_SPOKEN = ("/{w}/{s}", "/{w}/{s}.html", "/{w}/{n}-{s}/", "/{s}-{n}.htm")
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


class Planner:
    """Plans a web: methods that every kind of site is planned with."""

    def __init__(self, seed: int, kind: str, mixture: Mixture) -> None:
        self.seed = seed
        self.kind = kind
        self.mixture = mixture
        self.rng = seeded_rng("web", kind, seed)
        self.web = Web()
        self.services = Services(self.rng, mixture, self.web)
        self.exposures = Exposures(self.rng, mixture, self.web)
        self.outskirts: Page | Site | None = None
        """Where missing pages are added: on this site, or on a new site that this page (None: a seed) names."""
        self.later: dict[tuple[str, str], list[Service]] = {}
        """(host, way) → services to be named together later, by a site map or a catalogue's answer."""
        self._hosts: set[str] = set()
        self._number = 1000

    # ------------------------------------------------------------------ sites

    def site(self, theme: Theme, *, host: str = "", code: str = "", jargon: float = 0.0, name: str = "") -> Site:
        """Return a new site; arguments that are left out are drawn at random."""
        rng = self.rng
        language = languages()[code or self.mixture.language(rng)]
        where, roman = place(rng, language)
        words = theme.words[language.code]
        body = organisation(rng, language, words, where)
        places = (where, *(place(rng, language)[0] for _ in range(5)))
        return Site(
            host=self.host(host or f"{roman}-{theme.name[:4]}"),
            name=name or (body if theme.relevant else f"{where} {words.name}"),
            language=language,
            theme=theme,
            names=Names(places, body),
            charset=rng.choice(language.charsets),
            charset_sent=rng.random() < 0.4,
            design=rng.choice(self.mixture.designs),
            manner=rng.getrandbits(16),
            jargon=jargon,
            spoken=rng.random() < self.mixture.spoken,
        )

    def host(self, stem: str) -> str:
        """Return an unused host. `stem` may be a complete name beneath .example."""
        rng = self.rng
        plain = stem.removesuffix(".example").encode("idna" if not stem.isascii() else "ascii").decode()
        for number in range(1, 10_000):
            name = plain if number == 1 else f"{plain}{number}"
            lead = "www." if "." not in name and rng.random() < 0.6 else ""
            host = f"{lead}{name}.example"
            if name not in self._hosts:
                self._hosts.add(name)
                return host
        raise ValueError(f"no host is left for {stem}")

    def beside(self, site: Site, label: str, theme: Theme | None = None) -> Site:
        """Return a new site of the same organisation on a sister host."""
        domain = site.host.removeprefix("www.")
        other = self.site(theme or site.theme, host=f"{label}.{domain}", code=site.language.code, jargon=site.jargon)
        other.name, other.names, other.charset = site.name, site.names, site.charset
        return other

    # ------------------------------------------------------------------ pages

    def writer(self, site: Site) -> Writer:
        """Return the writer of the titles of a site's pages."""
        return Writer(self.rng, site.language, site.words, site.names, site.jargon)

    def address(self, site: Site, word: str, title: str = "") -> str:
        """Return an address for a further page of a section."""
        self._number += 1
        slug = _NOT_PLAIN.sub("-", title.lower()).strip("-")[:40]
        if site.spoken and len(slug) > 3:
            form = _SPOKEN[site.manner % len(_SPOKEN)]
            path = form.format(w=word, s=slug, n=self._number)
            if self.web.has(site.at(path)):
                path = f"/{word}/{self._number}-{slug}"
        else:
            path = _PATHS[site.manner % len(_PATHS)].format(w=word, n=self._number)
        if self.web.has(site.at(path)):  # a title that is a number: /news/2015 as the 2015th page and as "2015"
            path = f"/{word}/{self._number}-{self._number}"
        return site.at(path)

    def page(self, site: Site, word: str, title: str, *blocks: Block, jargon: float | None = None) -> Page:
        """Record a further page of a section and return it."""
        page = Page(self.address(site, word, title), site, title, list(blocks), jargon)
        self.web.add(page)
        return page

    def put(self, site: Site, path: str, title: str, *blocks: Block, jargon: float | None = None) -> Page:
        """Record a page at a path of the plan's own, with a number where that path is taken, and return it."""
        address = site.at(path)
        while self.web.has(address):
            self._number += 1
            stem, dot, end = path.rpartition(".") if path.endswith((".html", ".htm", ".shtml")) else (path, "", "")
            inner = stem.removesuffix("/")
            address = site.at(f"{inner}-{self._number}{'/' if inner != stem else ''}{dot}{end}")
        page = Page(address, site, title, list(blocks), jargon)
        self.web.add(page)
        return page

    def in_theme(self, site: Site, theme: Theme) -> Site:
        """Return the site with the words of another theme: same host, design and menus, pages about something else."""
        return replace(site, theme=theme)

    def number(self) -> int:
        """Return a number for an address that no other address has."""
        self._number += 1
        return self._number

    def name(self, page: Page, service: Service, ways: Sequence[str]) -> None:
        """Name a service on a page by one of `ways`, drawn by the web's weights."""
        weights = [self.mixture.ways[way] for way in ways]
        self.exposures.put(page, service, self.rng.choices(list(ways), weights)[0])

    def title(self, site: Site, *, placed: bool = True) -> str:
        """Return a title of the site's theme."""
        title = self.rng.choice(site.words.titles)
        if not placed:
            return title
        where = self.rng.choice(site.names.places)
        year = self.rng.randint(1990, 2024)
        return self.rng.choice(
            (f"{title} {where}", f"{title} {year}", f"{where}: {title}", f"{title}, {where} {year}")
            if site.language.spaced
            else (f"{where}{title}", f"{title}{year}", f"{year}{where}{title}")
        )

    def service_title(self, site: Site, service: Service) -> str:
        """Return the title of a page about a service."""
        if self.rng.random() >= self.mixture.titled:
            return service.title
        return self.rng.choice(site.language.titled).format(t=service.title)

    def articles(self, site: Site, word: str, count: int, *, jargon: float | None = None) -> list[Page]:
        """Return `count` pages of prose that link to some of each other."""
        pages: list[Page] = []
        for _ in range(count):
            page = self.page(site, word, self.title(site), Prose(self.paragraphs()), jargon=jargon)
            if pages:
                others = self.rng.sample(pages, min(len(pages), self.rng.randint(1, 4)))
                page.blocks.append(Listing(site.label("related"), tuple(link(other) for other in others)))
            pages.append(page)
        return pages

    def listed(
        self, site: Site, word: str, title: str, anchors: Sequence[Anchor], per_leaf: int, *, head: Page | None = None
    ) -> Page:
        """List links on pages of `per_leaf` links, each page linking to its neighbours and the first; return the first.

        `head` is a page that replaces the first one.
        """
        leaves = list(_parted(anchors, per_leaf)) or [()]
        base = self.address(site, word) if head is None else head.address
        mark = "&" if "?" in base else "?"
        addresses = [
            base,
            *(f"{base}{mark}{'pg' if site.manner % 2 else 'start'}={n}" for n in range(2, len(leaves) + 1)),
        ]
        first = head or Page(base, site, title)
        for number, (address, leaf) in enumerate(zip(addresses, leaves, strict=True)):
            page = first if number == 0 else Page(address, site, f"{title} {number + 1}")
            page.blocks.append(Listing("", tuple(leaf)))
            if len(leaves) > 1:
                page.blocks.append(Listing("", tuple(_turning(site, addresses, number))))
            if page is not head:
                self.web.add(page)
        return first

    def paragraphs(self) -> int:
        """Return a random number of paragraphs of a page: mostly few, sometimes many."""
        return min(18, int(self.rng.paretovariate(1.1) * 2))

    def recommend(self, site: Site, pages: Sequence[Page]) -> None:
        """Let every page of the site recommend some of its other `pages`; a third of the sites does not."""
        if site.manner % 3 == 0:
            return
        some = self.rng.sample(pages, min(len(pages), site.manner % 14))
        site.aside = tuple(map(link, some))

    def facts(self, site: Site, title: str) -> Facts:
        """Return the rows of the table on a page about a data set."""
        rng = self.rng
        rows = (
            (site.label("theme"), (site.words.name,)),
            (site.label("provider"), (site.names.organisation,)),
            (site.label("updated"), (f"{rng.randint(2001, 2024)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",)),
        )
        return Facts(title if rng.random() < 0.3 else "", rows[: rng.randint(1, 3)])


def link(page: Page, text: str = "") -> Anchor:
    """Return a link to a page, with its title as text by default."""
    return Anchor(page.address, text or page.title)


def _parted(anchors: Sequence[Anchor], size: int) -> Iterator[Sequence[Anchor]]:
    for start in range(0, len(anchors), size):
        yield anchors[start : start + size]


def _turning(site: Site, addresses: Sequence[str], number: int) -> Iterator[Anchor]:
    """Return links to the neighbouring pages of a list; some sites name several by number."""
    if number > 0:
        yield Anchor(addresses[number - 1], site.label("previous"))
    if site.manner % 5:
        for other in range(max(0, number - 4), min(len(addresses), number + 9)):
            if other != number:
                yield Anchor(addresses[other], str(other + 1))
    if number + 1 < len(addresses):
        yield Anchor(addresses[number + 1], site.label("next"))
