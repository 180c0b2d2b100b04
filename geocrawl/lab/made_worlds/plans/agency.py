"""Plan the web of one agency: many pages on a few hosts, few services, most services in few sections."""

from __future__ import annotations

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.catalogue import provider_site
from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Site
from geocrawl.lab.made_worlds.planner import Planner, link

_SECTIONS = ("news", "publications", "projects", "staff", "events", "help", "archive")
_LABELS = ("press", "library", "research", "people", "agenda", "learn", "old", "kids", "regions", "lab")


def agency(planner: Planner, pages: int) -> None:
    """Plan the web of an agency with about `pages` pages."""
    rng, mixture = planner.rng, planner.mixture
    services = max(6, round(pages * rng.uniform(0.013, 0.024)))
    head = planner.site(rng.choice(mixture.vocabularies), jargon=mixture.jargon * 0.3)
    home = Page(head.home, head, head.name, [Prose(2)])
    planner.web.add(home)
    planner.web.seeds.append(head.home)
    planner.outskirts = head
    shops = _shops(planner, head, services, round(pages * rng.uniform(0.12, 0.2)))
    hosts = [head, *(planner.beside(head, label) for label in rng.sample(_LABELS, _host_count(pages)))]
    for site in hosts:
        site.jargon = mixture.jargon * rng.uniform(0.1, 0.6)
        site.navigation = (Anchor(head.home, head.label("home")),)
    starts, written = _sections(planner, hosts, pages - planner.web.pages)
    doors = [Anchor(shop.home, shop.label(rng.choice(("data", "maps", "services")))) for shop in shops]
    head.navigation = (Anchor(head.home, head.label("home")), *map(link, starts[:4]), doors[0])
    home.blocks.append(Listing(head.label("theme"), tuple(link(page) for page in starts)))
    for door in doors[1:]:
        rng.choice(written).blocks.append(Prose(1, (door,)))
        rng.choice(starts).blocks.append(Listing("", (door,)))
    _scatter(planner, written, services // 3)
    traps.dead_ends(planner, head, written)
    traps.copies(planner, written, int(pages * mixture.traps * 0.4))
    head.footer = (traps.calendar(planner, hosts[-1], max(12, min(240, pages // 40))),)


def _host_count(pages: int) -> int:
    return min(len(_LABELS), 2 + pages // 900)


def _shops(planner: Planner, head: Site, services: int, pages: int) -> list[Site]:
    """Make the hosts that name most services: one or two catalogues, some on hosts whose names reveal the purpose."""
    rng = planner.rng
    count = rng.randint(1, 2) if pages > 80 else 1
    labels = rng.sample(("data", "catalog", "infra", "portal", "content", "o2"), count)
    made = []
    for label in labels:
        site = planner.beside(head, label, rng.choice(planner.mixture.vocabularies))
        made.append(provider_site(planner, site, max(2, services * 2 // (3 * count)), pages // count, others=0.15).site)
    return made


def _sections(planner: Planner, hosts: list[Site], pages: int) -> tuple[list[Page], list[Page]]:
    """Return sections of articles on all hosts: (their first pages, all articles); calendar and copies follow."""
    rng, mixture = planner.rng, planner.mixture
    names = [(site, rng.choice(_SECTIONS)) for site in hosts for _ in range(rng.randint(2, 3))]
    spare = max(len(names) * 4, round(pages * (0.93 - mixture.traps * 0.5)) - len(hosts))
    weights = [0.3 + rng.expovariate(1.0) for _ in names]
    starts, written = [], list[Page]()
    for number, (site, name) in enumerate(names):
        share = max(4, round(spare * weights[number] / sum(weights)))
        jargon = 0.4 if name == "help" else None
        articles = planner.articles(site, name, round(share * 0.92), jargon=jargon)
        anchors = [link(page) for page in articles]
        start = planner.listed(site, name, f"{site.label(name)} {number + 1}", anchors, rng.choice((12, 25, 40)))
        starts.append(start)
        written += articles
    for site in hosts:
        planner.recommend(site, [page for page in written if page.site is site])
    for site in hosts[1:]:
        own = tuple(link(page) for page in starts if page.site is site)
        planner.web.add(Page(site.home, site, site.name, [Prose(1), Listing("", own)]))
        site.navigation += own[:3]
    return starts, written


def _scatter(planner: Planner, written: list[Page], services: int) -> None:
    """Name services on pages of projects and news, some of them next to each other."""
    rng = planner.rng
    while services > 0:
        page = rng.choice(written)
        for _ in range(min(services, rng.choice((1, 1, 2, 4)))):
            way = planner.mixture.way(rng)
            service = planner.services.make(page.site)
            planner.exposures.put(page, service, way if way not in ("sitemap", "csw-record") else "href-bare")
            services -= 1
