"""Plan a wiki: articles with discussions, versions and categories; services in lists, info boxes and discussions."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import WAYS, kind, made, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, Page, Prose, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.vocabulary import Theme

_FORMS = ("/wiki/{t}", "/index.php/{t}", "/w/index.php?title={t}")
_LISTED = ("href-getcapabilities", "href-bare", "href-getmap", "text")


def wiki(planner: Planner, pages: int) -> None:
    """Plan a wiki with about `pages` pages, most of them about other matters, and sites that its articles refer to."""
    rng, mixture = planner.rng, planner.mixture
    site = planner.site(rng.choice(mixture.vocabularies), host=rng.choice(("wiki", "lexicon", "allwiki")))
    site.design = "wiki"
    made_wiki = _Wiki(planner, site)
    planner.web.seeds.append(site.home)
    services = max(8, round(pages * rng.uniform(0.03, 0.07)))
    bodies = [
        organisation(
            planner,
            rng.choice(mixture.vocabularies),
            max(5, pages // 90),
            rng.choice((0, 0, 1, 3)),
            code=made_wiki.code,
        )
        for _ in range(max(3, pages // 150))
    ]
    made_wiki.write(pages - planner.web.pages, made(planner, [body.site for body in bodies], services))
    for body in bodies:
        for page in (rng.choice(made_wiki.heads), *rng.sample(made_wiki.relevant, min(len(made_wiki.relevant), 2))):
            page.blocks.append(Listing(site.label("links"), (body.anchor(),)))
    planner.outskirts = made_wiki.home


class _Wiki:
    """The pages of one wiki."""

    def __init__(self, planner: Planner, site: Site) -> None:
        self._planner, self._site, self._lot = planner, site, planner.rng
        self.code = site.language.code
        self._form = self._lot.choice(_FORMS)
        self._tools = self._lot.uniform(0.25, 0.6)
        self.home = Page(site.home, site, site.label("home"), [Prose(2)])
        planner.web.add(self.home)
        self._special = [self._path(f"Special:{name}") for name in ("AllPages", "RecentChanges")]
        site.navigation = (
            Anchor(site.home, site.label("home")),
            *(
                Anchor(site.at(path), site.label(name))
                for path, name in zip(self._special, ("archive", "updated"), strict=True)
            ),
        )
        self.relevant: list[Page] = []
        """Articles on subjects that have services."""
        self.heads: list[Page] = []
        """First pages of these subjects' categories."""

    def _path(self, title: str) -> str:
        return self._form.format(t=quote(title.replace(" ", "_"), safe=":"))

    def write(self, pages: int, services: list[Service]) -> None:
        """Write about `pages` pages that name the services."""
        planner, rng = self._planner, self._lot
        themes = [*planner.mixture.vocabularies, *planner.mixture.leisure]
        weights = [0.5 if theme.relevant else 1.0 for theme in themes]
        size = int(pages * (0.9 - planner.mixture.traps * 0.4) / (1.08 + self._tools))
        articles: list[Page] = []
        by_theme: dict[str, list[Page]] = {theme.name: [] for theme in themes}
        for theme in rng.choices(themes, weights, k=size):
            page = self._article(theme, articles)
            articles.append(page)
            by_theme[theme.name].append(page)
        self.relevant = [page for theme in themes if theme.relevant for page in by_theme[theme.name]] or articles[:1]
        lists = self._name(services)
        self._categories(themes, by_theme, lists)
        talks = [self._tool(page) for page in rng.sample(articles, int(len(articles) * self._tools))]
        for page in rng.sample(talks, min(len(talks), len(services) // 8)):
            planner.name(page, planner.services.make(rng.choice(services).site, kind(planner)), ("text", "href-bare"))
        self._specials(articles)
        traps.noise(planner, self._site, articles, pages)

    def _article(self, theme: Theme, others: Sequence[Page]) -> Page:
        planner, rng = self._planner, self._lot
        voice = planner.in_theme(self._site, theme)
        title = planner.title(voice)
        near = [link(page) for page in rng.sample(others, min(len(others), rng.randint(1, 6)))]
        more = Listing(voice.label("related"), tuple(near[3:]))
        return planner.put(voice, self._path(title), title, Prose(planner.paragraphs(), tuple(near[:3])), more)

    def _tool(self, page: Page) -> Page:
        """Add the discussion or the versions of an article, to which its tabs lead."""
        planner, rng = self._planner, self._lot
        if rng.random() < 0.5:
            talk = planner.put(
                page.site, self._path(f"Talk:{page.title}"), f"Talk:{page.title}", Prose(2, (link(page),))
            )
        else:
            mark = "&" if "?" in page.address else "?"
            path = page.address.removeprefix(page.site.home)
            talk = planner.put(
                page.site,
                f"/{path}{mark}action={rng.choice(('history', 'info', 'edit'))}",
                page.title,
                Prose(1, (link(page),)),
            )
        page.blocks.append(Listing("", (link(talk, rng.choice(("talk", "history", "±"))),)))
        return talk

    def _name(self, services: list[Service]) -> list[Page]:
        """Name most services in articles that are lists of services, the others in info boxes; return the lists."""
        planner, rng, site = self._planner, self._lot, self._site
        waiting = list(services)
        lists = []
        while len(waiting) > len(services) * 0.35:
            title = site.language.directory.format(p=rng.choice(site.names.places))
            page = planner.put(site, self._path(title), title, Prose(2), jargon=0.5)
            for service in [waiting.pop() for _ in range(min(len(waiting), rng.randint(4, 24)))]:
                planner.name(page, service, _LISTED)
            lists.append(page)
            for other in rng.sample(self.relevant, min(len(self.relevant), rng.randint(1, 3))):
                other.blocks.append(Listing(site.label("related"), (link(page),)))
        while waiting:
            page = rng.choice(self.relevant)
            page.blocks.append(Facts("", ((site.label("provider"), (waiting[-1].site.names.organisation,)),)))
            planner.name(page, waiting.pop(), WAYS)
        return lists

    def _categories(self, themes: Sequence[Theme], by_theme: dict[str, list[Page]], lists: list[Page]) -> None:
        planner, site = self._planner, self._site
        heads = []
        for theme in themes:
            voice = planner.in_theme(site, theme)
            title = f"Category:{voice.words.name}"
            members = [link(page) for page in by_theme[theme.name]]
            if theme.relevant:
                members += [link(page) for page in lists[: len(lists) // 2]]
                lists = lists[len(lists) // 2 :]
            head = planner.put(voice, self._path(title), title, Prose(1))
            planner.listed(voice, "category", title, sorted(members, key=lambda each: each.text), 60, head=head)
            heads.append(link(head))
            if theme.relevant:
                self.heads.append(head)
            for page in by_theme[theme.name][:200]:
                page.blocks.append(Listing("", (link(head),)))
        self._lot.shuffle(heads)
        root = planner.put(site, self._path("Category:Contents"), site.label("catalogue"), Listing("", tuple(heads)))
        self.home.blocks.append(Listing(site.label("theme"), (link(root), *heads[:4])))

    def _specials(self, articles: list[Page]) -> None:
        planner, rng, site = self._planner, self._lot, self._site
        every, recent = (planner.put(site, path, path.rpartition(":")[2]) for path in self._special)
        some = rng.sample(articles, min(len(articles), 50))
        recent.blocks.append(Listing("", tuple(map(link, some))))
        anchors = sorted(map(link, articles), key=lambda each: each.text)
        planner.listed(site, "all", every.title, anchors, 120, head=every)
        self.home.blocks.append(Listing(site.label("news"), tuple(map(link, some[:8]))))
