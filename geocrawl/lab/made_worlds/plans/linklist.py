"""Plan directories of links, long link pages and rings of small sites; services stand mostly on the small sites."""

from __future__ import annotations

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import Organisation, kind, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, Page, Prose, Site
from geocrawl.lab.made_worlds.planner import Planner, link

_LISTED = ("href-getcapabilities", "href-bare", "text")


def linklist(planner: Planner, pages: int) -> None:
    """Plan a directory, one or two long lists and the sites that they lead to, with about `pages` pages."""
    rng, mixture = planner.rng, planner.mixture
    site = planner.site(rng.choice(mixture.leisure), host=rng.choice(("directory", "linkfarm", "weblinks")))
    site.design = "directory"
    home = Page(site.home, site, site.name, [Prose(1)])
    planner.web.add(home)
    planner.web.seeds.append(site.home)
    useful: list[Organisation] = []
    others: list[Organisation] = []
    while planner.web.pages < pages * 0.72:
        relevant = rng.random() < 0.3
        theme = rng.choice(mixture.vocabularies if relevant else mixture.leisure)
        served = rng.choice((0, 1, 2, 3)) if relevant else 0
        body = organisation(planner, theme, rng.randint(5, max(6, min(24, pages // 30))), served)
        (useful if relevant else others).append(body)
    _ring(planner, [body for body in [*useful, *others] if rng.random() < 0.4])
    _directory(planner, site, home, [*useful, *others], pages)
    for number in range(rng.randint(1, 2)):
        _long_list(planner, home, useful, others, number)
    home.blocks.append(Listing("", tuple(body.anchor() for body in rng.sample(others, min(3, len(others))))))
    planner.outskirts = home


def _directory(planner: Planner, site: Site, home: Page, bodies: list[Organisation], pages: int) -> None:
    """Add categories two levels deep with a page of details for each site."""
    rng = planner.rng
    by_theme: dict[str, list[Organisation]] = {}
    for body in bodies:
        by_theme.setdefault(body.site.theme.name, []).append(body)
    details: list[Page] = []
    tops = []
    for name, some in sorted(by_theme.items()):
        voice = planner.in_theme(site, some[0].site.theme)
        top = planner.put(voice, f"/{name.title()}/", voice.words.name)
        tops.append(link(top))
        for number, title in enumerate(rng.sample(voice.words.titles, min(3, max(1, len(some) // 3)))):
            inner = planner.put(voice, f"/{name.title()}/{number + 1}/", title, Prose(1))
            top.blocks.append(Listing("", (link(inner),)))
            for body in some[number::3]:
                row = (voice.words.name, (body.anchor(),))
                inner.blocks.append(Facts("", (row,)))
                detail = planner.put(
                    voice, f"/detail/{planner.number()}.html", body.site.name, Prose(1, (body.anchor(),))
                )
                inner.blocks.append(Listing("", (link(detail, rng.choice(("+", site.label("related")))),)))
                details.append(detail)
        for body in some:
            top.blocks.append(Listing("", (body.anchor(),))) if rng.random() < 0.5 or len(some) > 6 else None
    rng.shuffle(tops)
    home.blocks.append(Listing(site.label("theme"), tuple(tops)))
    site.navigation = (Anchor(site.home, site.label("home")),)
    traps.noise(planner, site, details, pages)
    spare = int(pages * 0.97) - planner.web.pages
    reviews = planner.articles(site, "review", max(2, spare * 9 // 10))
    start = planner.listed(site, "reviews", site.label("news"), list(map(link, reviews)), 30)
    home.blocks.append(Listing("", (link(start),)))


def _long_list(
    planner: Planner, home: Page, useful: list[Organisation], others: list[Organisation], number: int
) -> None:
    """Add a list of many links on one page, as people keep them: sites, and services among them."""
    rng = planner.rng
    keeper = planner.site(rng.choice(planner.mixture.vocabularies), host=f"awesome{number + 1}", jargon=0.2)
    keeper.design = rng.choice(("bare", "modern", "wiki"))
    page = Page(keeper.home, keeper, f"Awesome {keeper.words.name}", [Prose(2)])
    planner.web.add(page)
    for body in rng.sample(useful, min(len(useful), 30)):
        page.blocks.append(Listing(body.site.words.name, (body.anchor(),)))
        if rng.random() < 0.25:
            planner.name(page, planner.services.make(body.site, kind(planner)), _LISTED)
    for body in rng.sample(others, min(len(others), 12)):
        page.blocks.append(Listing("", (body.anchor(),)))
    home.blocks.append(Prose(1, (link(page),)))


def _ring(planner: Planner, bodies: list[Organisation]) -> None:
    """Let each of these sites link to the next one and the previous one."""
    for number, body in enumerate(bodies if len(bodies) > 2 else []):
        following, previous = bodies[(number + 1) % len(bodies)], bodies[number - 1]
        anchors = (Anchor(previous.site.home, "<< ring"), Anchor(following.site.home, "ring >>"))
        planner.rng.choice(body.pages[:2]).blocks.append(Listing("", anchors))
