"""Plan a family of Chinese sites: a bureau and its provincial bureaus, with columns of dated articles."""

from __future__ import annotations

from collections.abc import Sequence

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import WAYS, kind
from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.vocabulary import Theme

_COLUMNS = ("news", "about", "publications", "events", "projects", "staff")
_FORMS = (
    "/art/{y}/{m}/{d}/art_{c}_{n}.html",
    "/{y}{m:02}/t{y}{m:02}{d:02}_{n}.shtml",
    "/content.jsp?id={n}",
    "/c/{y}-{m:02}-{d:02}/{n}.html",
)
_LISTED = ("text", "href-getcapabilities", "href-bare", "href-getmap")


def chinese(planner: Planner, pages: int) -> None:
    """Plan a bureau, its provincial bureaus and their map nodes, with about `pages` pages."""
    rng, mixture = planner.rng, planner.mixture
    theme = rng.choice(mixture.vocabularies)
    count = max(2, min(8, pages // 180))
    head = planner.site(theme, host=rng.choice(("zrzy", "kejiju", "shuju")), code="zh")
    services = max(8, round(pages * rng.uniform(0.03, 0.07)))
    provinces = [
        planner.site(theme, host=f"{name}.{head.host.removeprefix('www.')}", code="zh")
        for name in _names(planner, count)
    ]
    share = int(pages * 0.97) // (count + 2)
    family = [_Bureau(planner, site) for site in (head, *provinces)]
    planner.web.seeds.append(head.home)
    for bureau in family:
        bureau.fill(share * (2 if bureau.site is head else 1), mixture.leisure[:3])
    with_node = rng.sample(family[1:], max(1, len(family) // 3))
    for number in range(services):
        if rng.random() < 0.3:
            bureau = rng.choice(family)
            planner.name(rng.choice(bureau.articles), planner.services.make(bureau.site, kind(planner)), WAYS)
        else:
            with_node[number % len(with_node)].serve()
    below = tuple(Anchor(site.home, site.name) for site in provinces)
    target = family[0].home if rng.random() < 0.5 else family[0].columns[1]
    target.blocks.append(Listing(head.label("links"), below))
    for bureau in family[1:]:
        bureau.home.blocks.append(
            Listing(head.label("links"), (Anchor(head.home, head.name), *rng.sample(below, min(2, len(below)))))
        )
    planner.outskirts = family[0].home


def _names(planner: Planner, count: int) -> list[str]:
    """Return distinct names of provinces in Latin letters."""
    language = planner.site(planner.mixture.vocabularies[0], code="zh").language
    return [f"{name}{number}" for number, name in enumerate(planner.rng.choices(language.roman, k=count))]


class _Bureau:
    """The site of one bureau: columns of articles, and a page of services."""

    def __init__(self, planner: Planner, site: Site) -> None:
        self._planner, self.site, self._lot = planner, site, planner.rng
        site.design = "channel"
        self._form = self._lot.choice(_FORMS)
        self.home = Page(site.home, site, site.name, [Prose(1)])
        planner.web.add(self.home)
        self.columns: list[Page] = []
        self.articles: list[Page] = []
        self._data: list[Page] = []

    def fill(self, pages: int, leisure: Sequence[Theme]) -> None:
        """Write about `pages` pages."""
        planner, rng, site = self._planner, self._lot, self.site
        chosen = rng.sample(_COLUMNS, min(len(_COLUMNS), max(3, pages // 40)))
        site.navigation = (
            Anchor(site.home, site.label("home")),
            *(Anchor(site.at(f"/col/{name}/index.html"), site.label(name)) for name in chosen),
        )
        each = max(3, int(pages * (0.86 - planner.mixture.traps * 0.4)) // len(chosen))
        for number, name in enumerate(chosen):
            written = [self._article(rng.choice([site.theme, site.theme, *leisure]), number) for _ in range(each)]
            column = planner.put(site, f"/col/{name}/index.html", site.label(name))
            self._column(column, list(map(link, reversed(written))), f"/col/{name}/index")
            self.columns.append(column)
            self.articles += written
        self.home.blocks.append(
            Listing(site.label("news"), tuple(map(link, rng.sample(self.articles, min(10, len(self.articles))))))
        )
        traps.noise(planner, site, self.articles, pages)

    def _article(self, theme: Theme, column: int) -> Page:
        planner, rng = self._planner, self._lot
        voice = planner.in_theme(self.site, theme)
        when = {"y": rng.randint(2012, 2024), "m": rng.randint(1, 12), "d": rng.randint(1, 28)}
        path = self._form.format(c=1000 + column, n=planner.number(), **when)
        return planner.put(voice, path, planner.title(voice), Prose(planner.paragraphs()))

    def _column(self, first: Page, anchors: list[Anchor], stem: str) -> None:
        """List articles on pages `index.html`, `index_1.html` …, as publishing systems there name them."""
        planner, site = self._planner, self.site
        parts = [anchors[n : n + 15] for n in range(0, len(anchors), 15)] or [[]]
        addresses = [first.address, *(site.at(f"{stem}_{n}.html") for n in range(1, len(parts)))]
        for number, part in enumerate(parts):
            page = (
                first if number == 0 else planner.put(site, addresses[number].removeprefix(site.home[:-1]), first.title)
            )
            page.blocks.append(Listing("", tuple(part)))
            turning = tuple(Anchor(to, str(n + 1)) for n, to in enumerate(addresses) if n != number)
            page.blocks.append(Listing("", turning))

    def serve(self) -> None:
        """Name a service on one of the bureau's pages of data, which its home page or a column leads to."""
        planner, rng, site = self._planner, self._lot, self.site
        if not self._data or rng.random() < 0.12:
            word = rng.choice(("services", "data", "maps", "catalogue"))
            page = planner.put(
                site,
                f"/{rng.choice(('sjfw', 'zxfw', 'dtfw'))}/{planner.number()}.html",
                site.label(word),
                Prose(1),
                jargon=0.4,
            )
            rng.choice([self.home, *self.columns]).blocks.append(Listing("", (link(page),)))
            self._data.append(page)
        planner.name(rng.choice(self._data), planner.services.make(site, kind(planner)), _LISTED)
