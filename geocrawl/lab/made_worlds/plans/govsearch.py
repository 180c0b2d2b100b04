"""Plan a portal that is entered by search forms: results by page, facets, documents; most results are no services."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import kind, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, Page, Prose, Raw, Site
from geocrawl.lab.made_worlds.planner import Planner, link

_WAYS = ("form", "text", "href-getcapabilities", "href-bare", "redirect", "href-getmap")


def govsearch(planner: Planner, pages: int) -> None:
    """Plan a portal with about `pages` pages, nearly all of them behind its forms."""
    rng, mixture = planner.rng, planner.mixture
    site = planner.site(
        rng.choice(mixture.vocabularies), host=rng.choice(("services.gov", "egov", "citizen-portal")).replace(".", "-")
    )
    site.design = "results"
    home = Page(site.home, site, site.name, [Prose(2)])
    planner.web.add(home)
    planner.web.seeds.append(site.home)
    site.navigation = (Anchor(site.home, site.label("home")),)
    body = organisation(planner, rng.choice(mixture.vocabularies), max(6, pages // 40), 1, code=site.language.code)
    search = _Search(planner, site)
    forms = search.fill(int(pages * 0.97) - planner.web.pages)
    home.blocks += [forms[0], *(forms[1:] if rng.random() < 0.5 else [])]
    extended = planner.put(site, "/extended", site.label("search"), *forms)
    home.blocks.append(Listing("", (link(extended), body.anchor())))
    planner.outskirts = home


class _Search:
    """The forms of a portal, and what they lead to."""

    def __init__(self, planner: Planner, site: Site) -> None:
        self._planner, self._site, self._lot = planner, site, planner.rng
        self._path = self._lot.choice(("/search", "/find.do", "/results.jsp", "/suche"))
        self._form = self._lot.choice(
            ("/doc?id={n}", "/detail.do?nr={n}&view=full", "/object/{n}", "/leistung/{n}.html")
        )
        self._start = self._lot.choice(("page", "start", "offset"))

    def fill(self, pages: int) -> list[Raw]:
        """Write about `pages` pages; return the HTML of the forms."""
        planner, rng, site = self._planner, self._lot, self._site
        themes = [*planner.mixture.vocabularies, *planner.mixture.leisure]
        share = rng.uniform(0.05, 0.13)
        keepers = [planner.site(theme, code=site.language.code) for theme in planner.mixture.vocabularies]
        found: dict[str, list[Page]] = {theme.name: [] for theme in themes}
        count = int(pages * (0.86 - planner.mixture.traps * 0.4))
        for _ in range(count):
            theme = rng.choice(themes)
            served = rng.random() < share * (1.7 if theme.relevant else 0.2)
            found[theme.name].append(self._document(planner.in_theme(site, theme), keepers if served else []))
        documents = [page for some in found.values() for page in some]
        rng.shuffle(documents)
        facets = {theme.name: planner.in_theme(site, theme).words.name for theme in themes if found[theme.name]}
        links = tuple(Anchor(self._address({"theme": name}, 0), text) for name, text in facets.items())
        deep = max(15, len(documents) // 8)  # a search shows no more than its first results
        self._results({"type": "all"}, site.label("search"), documents[:deep], links)
        for name, text in facets.items():
            self._results({"theme": name}, text, found[name], links[:2])
        some = [page for page in documents if rng.random() < 0.1]
        self._results({"area": "0", "sort": "date"}, site.label("updated"), some[:60], links[2:5])
        traps.noise(planner, site, documents, pages)
        first = next(iter(facets))
        area = '<select name="area"><option value="0">-</option><option value="1">1</option></select>'
        chosen = f'<select name="theme"><option value="{first}" selected>{escape(facets[first])}</option></select>'
        return [
            self._html('<input type="hidden" name="type" value="all"><input type="text" name="q">', {"type": "all"}),
            self._html(f'{chosen}<input name="q">', {"theme": first}),
            self._html(f'{area}<input type="hidden" name="sort" value="date">', {"area": "0", "sort": "date"}),
        ][: rng.randint(2, 3)]

    def _html(self, fields: str, query: dict[str, str]) -> Raw:
        """Return a form with these fields; `query`: what it sends when a person just presses its button."""
        text = escape(self._site.label("search"))
        html = f'<form action="{self._path}" method="get">{fields}<input type="submit" value="{text}"></form>'
        return Raw(html, (self._address(query, 0),))

    def _address(self, query: dict[str, str], number: int) -> str:
        return self._site.at(f"{self._path}?{urlencode(query | ({self._start: str(number + 1)} if number else {}))}")

    def _results(
        self, query: dict[str, str], title: str, documents: Sequence[Page], facets: tuple[Anchor, ...]
    ) -> None:
        planner, site = self._planner, self._site
        parts = [documents[n : n + 15] for n in range(0, len(documents), 15)] or [[]]
        for number, part in enumerate(parts):
            page = Page(
                self._address(query, number),
                site,
                f"{title} ({len(documents):,})",
                [Listing("", tuple(map(link, part)))],
            )
            page.blocks.append(Listing(site.label("theme"), facets))
            near = range(max(0, number - 3), min(len(parts), number + 8))
            turning = tuple(Anchor(self._address(query, n), str(n + 1)) for n in near if n != number)
            page.blocks.append(Listing("", turning))
            planner.web.add(page)

    def _document(self, voice: Site, keepers: Sequence[Site]) -> Page:
        planner, rng = self._planner, self._lot
        title = planner.title(voice)
        row = (voice.label("provider"), (voice.names.organisation,))
        path = self._form.format(n=planner.number())
        page = planner.put(voice, path, title, Prose(planner.paragraphs()), Facts("", (row,)))
        for _ in range(rng.choice((1, 1, 2)) if keepers else 0):
            planner.name(page, planner.services.make(rng.choice(keepers), kind(planner)), _WAYS)
        return page
