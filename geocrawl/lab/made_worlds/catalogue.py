"""Plan the sites of providers: data sets with their services, news, help; most services in few sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.parts import Anchor, Listing, OtherAnswer, Page, Prose, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link

_ALONE = ("sitemap", "csw-record")
"""Ways of naming several services at once, outside the data sets' pages."""


class Provider(NamedTuple):
    """A provider's site and the pages by which others lead to it."""

    site: Site
    catalogue: Page
    sets: Sequence[Page]
    links: Page
    """The site's page of links to other sites."""


def provider_site(planner: Planner, site: Site, services: int, pages: int, *, others: float = 0.35) -> Provider:
    """Fill a site with about `pages` pages that name `services` WMS, and `others` times as many of other kinds."""
    rng = planner.rng
    home = Page(site.home, site, site.name, [Prose(rng.randint(1, 2))])
    planner.web.add(home)
    begun = planner.web.pages
    made = [planner.services.make(site) for _ in range(services)]
    made += [planner.services.make(site, planner.services.other_kind()) for _ in range(int(services * others))]
    rng.shuffle(made)
    room = max(2, pages - len(made) // 2 - 8)
    sets = data_sets(planner, site, made, decoys=min(room // 3, len(made) // 2 + 1))
    catalogue = catalogue_lists(planner, site, sets, home)
    _give_rest(planner, site, home, sets)
    guide = planner.page(site, "guide", site.label("help"), Prose(4), jargon=0.5)
    about = planner.page(site, "about", site.label("about"), Prose(2))
    links = planner.page(site, "links", site.label("links"), Prose(1))
    spare = pages - 1 - (planner.web.pages - begun)
    news = planner.articles(site, rng.choice(("news", "note", "info")), max(3, int(spare * 0.85)))
    listed = planner.listed(site, "news", site.label("news"), [link(page) for page in news], rng.choice((8, 12, 20)))
    site.navigation = (Anchor(site.home, site.label("home")), link(catalogue), link(listed), link(guide))
    site.footer = (link(about), link(links))
    home.blocks.append(
        Listing(site.label("catalogue"), tuple(link(page) for page in rng.sample(sets, min(4, len(sets)))))
    )
    if rng.random() < 0.4:
        home.blocks.append(Listing("", (_feed(planner, site, news[-15:]),)))
    for page in rng.sample(news, min(len(news), len(sets) // 6)):
        page.blocks.append(Prose(1, (link(rng.choice(sets)),)))
    planner.recommend(site, [*news, *sets])
    traps.dead_ends(planner, site, [*news, *sets])
    traps.copies(planner, [*sets, *news], int(pages * planner.mixture.traps * 0.4))
    _frame(planner, site, home)
    return Provider(site, catalogue, sets, links)


def _feed(planner: Planner, site: Site, pages: Sequence[Page]) -> Anchor:
    """Add a feed (RSS 2.0) of some pages and return the link to it."""
    items = "".join(f"<item><title>{escape(p.title)}</title><link>{escape(p.address)}</link></item>\n" for p in pages)
    head = f"<title>{escape(site.name)}</title><link>{site.home}</link><description/>"
    body = f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{head}\n{items}</channel></rss>\n'
    address = site.at(planner.rng.choice(("/feed", "/rss.xml", "/news/atom")))
    targets = tuple(page.address for page in pages)
    planner.web.add(OtherAnswer(address, "application/rss+xml", body, targets=targets, is_map=True))
    return Anchor(address, "RSS")


def data_sets(planner: Planner, site: Site, services: list[Service], *, decoys: int) -> list[Page]:
    """Return pages of data sets: most name a service, some two, `decoys` none."""
    rng = planner.rng
    pages: list[Page] = []
    waiting = [service for service in services if not _kept_for_all(planner, site, service)]
    word = rng.choice(("dataset", "layer", "product", "set", "res"))
    while waiting:
        some = [waiting.pop() for _ in range(min(len(waiting), rng.choice((1, 1, 1, 1, 2, 3))))]
        title = planner.service_title(site, some[0])
        page = planner.page(site, word, title, Prose(rng.randint(1, 4)), planner.facts(site, title))
        page.jargon = min(0.8, planner.mixture.jargon * rng.uniform(0.8, 3.0))
        for service in some:
            ways = [planner.mixture.way(rng) for _ in range(rng.choice((1, 1, 2)))]
            for way in dict.fromkeys(ways):
                planner.exposures.put(page, service, "href-getcapabilities" if way in _ALONE else way)
        pages.append(page)
    for _ in range(decoys):
        title = planner.title(site)
        page = planner.page(site, word, title, Prose(rng.randint(1, 4)), planner.facts(site, title))
        page.jargon = planner.mixture.jargon * rng.uniform(0.2, 1.2)
        page.blocks.append(Listing(site.label("download"), (Anchor(page.address.partition("?")[0] + ".zip", "ZIP"),)))
        pages.append(page)
    rng.shuffle(pages)
    for page in pages:
        near = rng.sample(pages, min(len(pages), rng.randint(0, 4)))
        page.blocks.append(Listing(site.label("related"), tuple(link(other) for other in near if other is not page)))
    return pages


def _kept_for_all(planner: Planner, site: Site, service: Service) -> bool:
    """Return whether only a site map or a catalogue's answer is to name a service, and record this."""
    way = planner.mixture.way(planner.rng)
    if way in _ALONE:
        planner.later.setdefault((site.host, way), []).append(service)
    return way in _ALONE


def _give_rest(planner: Planner, site: Site, home: Page, sets: Sequence[Page]) -> None:
    """Name the remaining services by a site map or a catalogue's answer; some sites have a site map without need."""
    kept = planner.later.pop((site.host, "sitemap"), [])
    if kept or planner.rng.random() < 0.2:
        pages = planner.rng.sample(sets, min(len(sets), 100))
        planner.exposures.in_sitemap(home, kept, [site.home, *(page.address for page in pages)])
    if kept := planner.later.pop((site.host, "csw-record"), []):
        planner.exposures.in_catalogue_answer(home, kept)


def catalogue_lists(planner: Planner, site: Site, sets: list[Page], home: Page) -> Page:
    """List the data sets by theme on several pages each, and return a page of the themes."""
    rng = planner.rng
    anchors = [link(page) for page in sets]
    per_leaf = rng.choice((10, 15, 25))
    if len(anchors) < 2 * per_leaf:
        return planner.listed(site, "catalogue", site.label("catalogue"), anchors, per_leaf)
    count = min(len(site.words.titles), max(2, len(anchors) // (2 * per_leaf)))
    lists = [planner.listed(site, "theme", site.words.titles[n], anchors[n::count], per_leaf) for n in range(count)]
    if rng.random() < 0.5:
        traps.facets(planner, site, lists[0], 3)
    top = planner.page(site, "catalogue", site.label("catalogue"), Prose(1), Listing("", tuple(map(link, lists))))
    if rng.random() < 0.5:
        home.blocks.append(Listing(site.label("theme"), tuple(map(link, lists))))
    return top


def _frame(planner: Planner, site: Site, home: Page) -> None:
    """Turn the home page of a site that is designed with frames into a frameset that names two frames."""
    if site.design != "frames":
        return
    menu = Page(site.at("/menu.htm"), site, site.name, [Listing("", (*site.navigation, *site.footer))])
    start = Page(site.at("/start.htm"), site, site.name, home.blocks)
    home.blocks = []
    home.frames = (Anchor(menu.address, "menu"), Anchor(start.address, "content"))
    for page in (menu, start):
        planner.web.add(page)
    if named := planner.web.named.pop(home.address, None):
        planner.web.named[start.address] = named
