"""Plan blogs and a forum: posts by month and tag, threads over several pages, profiles; services within few texts."""

from __future__ import annotations

from collections.abc import Sequence

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import Organisation, kind, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.vocabulary import Theme

_POSTS = ("/{y}/{m:02}/{n}/", "/?p={n}", "/archives/{n}.html", "/post/{n}")
_WRITTEN = ("text", "href-getcapabilities", "href-bare", "href-getmap", "js")


def blog(planner: Planner, pages: int) -> None:
    """Plan one to three blogs and a forum with about `pages` pages, whose texts name services here and there."""
    rng, mixture = planner.rng, planner.mixture
    bodies = [
        organisation(planner, rng.choice(mixture.vocabularies), max(4, pages // 120), rng.choice((0, 1, 2)))
        for _ in range(max(2, pages // 300))
    ]
    services = max(8, round(pages * rng.uniform(0.025, 0.06)))
    blogs = rng.randint(1, 3 if pages >= 600 else 1)
    room = pages - planner.web.pages
    share = rng.uniform(0.35, 0.6)
    homes = [
        _Blog(planner, bodies).fill(int(room * share / blogs), round(services * 0.45 / blogs)) for _ in range(blogs)
    ]
    forum = _Forum(planner, bodies).fill(pages - planner.web.pages, round(services * 0.55))
    planner.web.seeds += [homes[0].address, forum.address]
    for body in bodies:
        rng.choice([*homes, forum]).blocks.append(Listing(body.site.label("links"), (body.anchor(),)))
    for other in homes[1:]:
        homes[0].blocks.append(Listing(homes[0].site.label("links"), (link(other),)))
    planner.outskirts = forum


class _Blog:
    """Writes one blog: its posts, their archive by month, and their tags."""

    def __init__(self, planner: Planner, bodies: Sequence[Organisation]) -> None:
        self._planner, self._lot, self._bodies = planner, planner.rng, bodies
        self._themes = [
            planner.rng.choice(planner.mixture.vocabularies),
            *planner.rng.sample(planner.mixture.leisure, 3),
        ]
        self._site = planner.site(
            self._themes[0], host=f"{planner.rng.choice(('blog', 'notes', 'journal'))}{planner.rng.randint(1, 99)}"
        )
        self._site.design = "weblog"
        self.home = Page(self._site.home, self._site, self._site.name)
        planner.web.add(self.home)

    def fill(self, pages: int, services: int) -> Page:
        """Write about `pages` pages that name `services` services; return the first page."""
        planner, rng, site = self._planner, self._lot, self._site
        about = planner.put(site, "/about/", site.label("about"), Prose(2))
        site.navigation = (Anchor(site.home, site.label("home")), link(about))
        months = [(year, month) for year in range(2025 - max(2, pages // 120), 2025) for month in range(1, 13)]
        size = max(6, int(pages * (0.72 - planner.mixture.traps * 0.4) - len(months) * 0.8))
        form = rng.choice(_POSTS)
        posts: list[tuple[Page, tuple[int, int], Theme]] = []
        for number in range(size):
            when = months[number * len(months) // size]
            theme = rng.choices(self._themes, (1.0, 2.0, 1.0, 1.0))[0]
            voice = planner.in_theme(site, theme)
            path = form.format(y=when[0], m=when[1], n=planner.number())
            page = planner.put(voice, path, planner.title(voice), Prose(planner.paragraphs()))
            if posts:
                page.blocks.append(Listing("", (link(posts[-1][0], site.label("previous")),)))
            posts.append((page, when, theme))
        self._name([page for page, _, theme in posts if theme.relevant] or [posts[0][0]], services)
        self._lists(posts)
        traps.noise(planner, site, [page for page, _, _ in posts], pages)
        return self.home

    def _name(self, posts: list[Page], services: int) -> None:
        """Name services in some posts: mostly one, in a few round-ups many."""
        planner, rng = self._planner, self._lot
        while services > 0:
            page = rng.choice(posts)
            page.jargon = 0.4
            body = rng.choice(self._bodies)
            if rng.random() < 0.4:
                page.blocks.append(Prose(1, (body.anchor(),)))
            for _ in range(min(services, rng.choice((1, 1, 1, 2, 8)))):
                planner.name(page, planner.services.make(body.site, kind(planner)), _WRITTEN)
                services -= 1

    def _lists(self, posts: Sequence[tuple[Page, tuple[int, int], Theme]]) -> None:
        planner, rng, site = self._planner, self._lot, self._site
        months: dict[tuple[int, int], list[Anchor]] = {}
        tags: dict[str, list[Anchor]] = {}
        for page, when, theme in posts:
            months.setdefault(when, []).append(link(page))
            for tag in {theme.words[site.language.code].name, rng.choice(page.site.words.nouns)}:
                tags.setdefault(tag, []).append(link(page))
        archive = [
            planner.put(site, f"/{year}/{month:02}/", f"{year}-{month:02}", Listing("", tuple(anchors)))
            for (year, month), anchors in months.items()
        ]
        kept = sorted(tags.items(), key=lambda entry: (-len(entry[1]), entry[0]))[: max(4, len(posts) // 12)]
        tagged = [
            planner.listed(site, "tag", tag, anchors, 15, head=planner.put(site, f"/tag/{number + 1}/", tag))
            for number, (tag, anchors) in enumerate(kept)
        ]
        recent = [link(page) for page, _, _ in reversed(posts)]
        planner.listed(site, "page", site.name, recent, 10, head=self.home)
        site.aside = (*map(link, archive[-12:]), *map(link, tagged[:10]))
        self.home.blocks.append(Listing(site.label("archive"), tuple(map(link, [*archive, *tagged]))))
        for page, _, _ in posts:
            page.site.aside = site.aside


class _Forum:
    """Writes one forum: boards by theme, threads over several pages, and the profiles of members."""

    def __init__(self, planner: Planner, bodies: Sequence[Organisation]) -> None:
        self._planner, self._lot, self._bodies = planner, planner.rng, bodies
        themes = [planner.rng.choice(planner.mixture.vocabularies), *planner.mixture.leisure[:5]]
        self._site = planner.site(themes[0], host=planner.rng.choice(("forum", "board", "community")))
        self._site.design = "board"
        self._boards = [planner.in_theme(self._site, theme) for theme in themes]
        self.home = Page(self._site.home, self._site, self._site.name)
        planner.web.add(self.home)

    def fill(self, pages: int, services: int) -> Page:
        """Write about `pages` pages that name `services` services, most in one board; return the first page."""
        planner, rng, site = self._planner, self._lot, self._site
        users = [
            planner.put(site, f"/memberlist.php?mode=viewprofile&u={n + 2}", rng.choice(site.names.places), Prose(1))
            for n in range(max(2, pages // 12))
        ]
        boards, threads = [], list[Page]()
        size = int(pages * (0.8 - planner.mixture.traps * 0.4))
        wanted: list[Page] = []
        for number, voice in enumerate(self._boards):
            board: list[Page] = []
            begun = planner.web.pages
            while planner.web.pages - begun < size // len(self._boards):
                thread = self._thread(voice, number + 1, users)
                board.append(thread[0])
                wanted += thread if voice.theme.relevant else thread[:1] if rng.random() < 0.04 else []
            head = planner.put(voice, f"/viewforum.php?f={number + 1}", voice.words.name)
            boards.append(
                planner.listed(voice, "board", head.title, [link(page) for page in reversed(board)], 25, head=head)
            )
            threads += board
        self._name(wanted, services)
        rng.shuffle(boards)
        self.home.blocks.append(Listing("", tuple(map(link, boards))))
        self.home.blocks.append(
            Listing(site.label("updated"), tuple(map(link, rng.sample(threads, min(6, len(threads))))))
        )
        traps.noise(planner, site, threads, pages)
        return self.home

    def _thread(self, voice: Site, board: int, users: list[Page]) -> list[Page]:
        """Return the pages of a thread; each has ten posts with links to their authors."""
        planner, rng = self._planner, self._lot
        number, title = planner.number(), planner.title(voice)
        found: list[Page] = []
        for start in range(rng.choice((1, 1, 1, 2, 2, 5))):
            mark = f"&start={start * 10}" if start else ""
            authors = tuple(map(link, rng.sample(users, min(len(users), 3))))
            page = planner.put(
                voice,
                f"/viewtopic.php?f={board}&t={number}{mark}",
                title,
                Prose(rng.randint(2, 8)),
                Listing("", authors),
            )
            found.append(page)
        turning = tuple(link(page, str(n + 1)) for n, page in enumerate(found))
        for page in found if len(found) > 1 else []:
            page.blocks.append(Listing("", tuple(each for each in turning if each.target != page.address)))
        return found

    def _name(self, pages: list[Page], services: int) -> None:
        planner, rng = self._planner, self._lot
        made: list[Service] = []
        for _ in range(services):
            page = rng.choice(pages)
            page.jargon = 0.35
            if made and rng.random() < 0.15:
                planner.name(page, rng.choice(made), ("text", "href-getmap", "href-bare"))
            made.append(planner.services.make(rng.choice(self._bodies).site, kind(planner)))
            planner.name(page, made[-1], ("text", "href-getcapabilities", "href-getmap", "href-bare"))
