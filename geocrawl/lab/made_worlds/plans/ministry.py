"""Plan a ministry: a tree of subjects, press releases by year, a site map, and offices that hold the data."""

from __future__ import annotations

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import WAYS, kind
from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.vocabulary import Theme

_ENDS = (".html", "/index.php", ".aspx", "_node.html", "/")
_DIVISIONS = ("policy", "law", "funding", "protection", "monitoring", "reports", "data", "citizens", "europe", "faq")


def ministry(planner: Planner, pages: int) -> None:
    """Plan a ministry and its offices with about `pages` pages: services stand deep in few branches of their trees."""
    rng, mixture = planner.rng, planner.mixture
    services = max(8, round(pages * rng.uniform(0.02, 0.05)))
    head = planner.site(rng.choice(mixture.vocabularies), host=rng.choice(("ministry", "regierung", "department")))
    offices = [
        planner.beside(head, f"office{n + 1}", rng.choice(mixture.vocabularies)) for n in range(rng.randint(2, 4))
    ]
    room = int(pages * rng.uniform(0.45, 0.6))
    top = _Tree(planner, head, rng.choice(_ENDS))
    planner.web.seeds.append(head.home)
    top.fill(room, services // 5, [rng.choice(mixture.vocabularies), *mixture.leisure[:5]])
    left = pages - planner.web.pages
    homes = []
    for number, site in enumerate(offices):
        tree = _Tree(planner, site, rng.choice(_ENDS))
        size = left // len(offices) if number < len(offices) - 1 else pages - planner.web.pages
        tree.fill(size, services * 4 // (5 * len(offices)), [site.theme, *rng.sample(mixture.leisure, 2)])
        homes.append(Anchor(site.home, f"{site.name} {site.words.name}"))
    top.home.blocks.append(Listing(head.label("partners"), tuple(homes)))
    rng.choice(top.leaves).blocks.append(Prose(1, (rng.choice(homes),)))
    planner.outskirts = head


class _Tree:
    """The pages of one authority: subjects, their parts, and leaves, each path longer than the one above."""

    def __init__(self, planner: Planner, site: Site, end: str) -> None:
        self._planner, self._site, self._lot = planner, site, planner.rng
        site.design = "government"
        self.end = end
        self.home = Page(site.home, site, site.name, [Prose(1)])
        planner.web.add(self.home)
        self.subjects: list[Page] = []
        self.leaves: list[Page] = []
        self._data: list[Page] = []
        """Pages about the data of a subject that has services."""
        self._branches: list[Page] = []

    def fill(self, pages: int, services: int, themes: list[Theme]) -> None:
        """Write about `pages` pages that name `services` services."""
        planner, rng, site = self._planner, self._lot, self._site
        press = max(6, int(pages * rng.uniform(0.3, 0.45)))
        starts = [site.at(f"/{name}{self.end}") for name in ("topics", "press", "sitemap")]
        labels = ("theme", "news", "page")
        site.navigation = (
            Anchor(site.home, site.label("home")),
            *(Anchor(to, site.label(name)) for to, name in zip(starts, labels, strict=True)),
        )
        self._subjects(int(pages * (0.9 - planner.mixture.traps * 0.4)) - press - 8, themes)
        self._press(press)
        self._name(services)
        if rng.random() < 0.7:
            links = tuple(map(link, [*self.subjects, *self._branches, *rng.sample(self._data, len(self._data) // 2)]))
        else:
            links = tuple(map(link, self.subjects))
        planner.put(site, f"/sitemap{self.end}", site.label("catalogue"), Listing("", links))
        site.footer = (traps.calendar(planner, site, max(6, min(36, pages // 30))),)
        traps.noise(planner, site, self.leaves, pages)

    def _subjects(self, pages: int, themes: list[Theme]) -> None:
        planner, rng, site = self._planner, self._lot, self._site
        top = planner.put(site, f"/topics{self.end}", site.label("theme"), Prose(1))
        each = max(4, pages // len(themes))
        for theme in themes:
            voice = planner.in_theme(site, theme)
            words = theme.name if site.spoken else f"t{planner.number()}"
            subject = planner.put(voice, f"/topics/{words}{self.end}", voice.words.name, Prose(2))
            self.subjects.append(subject)
            count = max(1, min(len(_DIVISIONS), each // 7))
            parts = rng.sample(_DIVISIONS, count)
            branches = [self._branch(voice, f"/topics/{words}/{part}", each // count - 1) for part in parts]
            subject.blocks.append(Listing("", tuple(map(link, branches))))
            self._branches += branches
        top.blocks.append(Listing("", tuple(map(link, self.subjects))))
        self.home.blocks.append(Listing(site.label("theme"), tuple(map(link, self.subjects))))

    def _branch(self, voice: Site, path: str, leaves: int) -> Page:
        """Add a part of a subject with its leaves; some leaves have a page of data below."""
        planner, rng = self._planner, self._lot
        branch = planner.put(voice, path + self.end, planner.title(voice, placed=False), Prose(2))
        begun = planner.web.pages
        while planner.web.pages - begun < leaves:
            title = planner.title(voice)
            name = "-".join(title.lower().split()) if voice.spoken and title.isascii() else f"{planner.number()}"
            leaf = planner.put(voice, f"{path}/{name}{self.end}", title, Prose(planner.paragraphs()))
            branch.blocks.append(Listing("", (link(leaf),)))
            self.leaves.append(leaf)
            if voice.theme.relevant and rng.random() < 0.2:
                word = rng.choice(("data", "maps", "download", "services", "publications"))
                below = planner.put(
                    voice, f"{path}/{name}/{word}{self.end}", f"{title} - {voice.label(word)}", Prose(1)
                )
                leaf.blocks.append(Listing("", (link(below, voice.label(word)),)))
                self._data.append(below)
        return branch

    def _press(self, count: int) -> None:
        """Add press releases by year."""
        planner, rng, site = self._planner, self._lot, self._site
        years = list(range(2024 - min(9, count // 12), 2025))
        heads = []
        for year in years:
            written = []
            for _ in range(max(1, count // len(years) - 2)):
                voice = planner.in_theme(site, rng.choice([site.theme, *planner.mixture.leisure[:4]]))
                number = planner.number()
                written.append(
                    planner.put(
                        voice, f"/press/{year}/{number}{self.end}", planner.title(voice), Prose(planner.paragraphs())
                    )
                )
            head = planner.put(site, f"/press/{year}{self.end}", f"{site.label('news')} {year}")
            heads.append(planner.listed(site, "press", head.title, list(map(link, written)), 25, head=head))
            self.leaves += written
        start = planner.put(
            site, f"/press{self.end}", site.label("news"), Listing("", tuple(map(link, reversed(heads))))
        )
        self.home.blocks.append(
            Listing(site.label("news"), tuple(map(link, [start, *rng.sample(self.leaves, min(5, len(self.leaves)))])))
        )

    def _name(self, services: int) -> None:
        planner, rng = self._planner, self._lot
        places = rng.sample(self._data, max(1, len(self._data) // 2)) if self._data else self.leaves[:1]
        while services > 0:
            page = rng.choice(places) if rng.random() < 0.85 else rng.choice(self.leaves)
            page.jargon = planner.mixture.jargon
            for _ in range(min(services, rng.choice((1, 2, 3, 6)))):
                planner.name(page, planner.services.make(page.site, kind(planner)), WAYS)
                services -= 1
