"""Plan a directory of map services: lists in several orders, a page for each service, the sites of the providers."""

from __future__ import annotations

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.catalogue import provider_site
from geocrawl.lab.made_worlds.leisure import leisure_site
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, Page, Prose, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link


def portal(planner: Planner, pages: int) -> None:
    """Plan a directory of map services with about `pages` pages."""
    rng, mixture = planner.rng, planner.mixture
    services = round(pages * rng.uniform(0.42, 0.56))
    head = planner.site(
        rng.choice(mixture.vocabularies), host=rng.choice(("findmaps", "servicelist", "geoindex")), jargon=0.4
    )
    head.name = head.language.directory.format(p=rng.choice(head.names.places))
    home = Page(head.home, head, head.label("services"), [Prose(2)])
    planner.web.add(home)
    planner.web.seeds.append(head.home)
    bodies = _bodies(planner, max(3, pages // 90), services, round(pages * rng.uniform(0.25, 0.4)))
    listed = services - len(planner.web.services)
    made = [planner.services.make(rng.choice(bodies)) for _ in range(max(4, listed))]
    details = [_detail(planner, head, service) for service in made]
    lists = _lists(planner, head, details, pages)
    guide = planner.outskirts = planner.page(head, "guide", head.label("help"), Prose(4))
    head.navigation = (Anchor(head.home, head.label("home")), *map(link, lists[:3]), link(guide))
    home.blocks.append(Listing(head.label("theme"), tuple(map(link, lists))))
    forum = leisure_site(planner, head.theme, max(12, pages // 30), jargon=0.5)
    count = max(2, pages // 350)
    size = max(10, (pages - planner.web.pages) * 4 // (5 * count))
    strangers = [leisure_site(planner, rng.choice(mixture.leisure), size) for _ in range(count)]
    strangers.append(forum)
    away = [Anchor(body.home, body.name) for body in bodies] + [Anchor(site.home, site.name) for site in strangers]
    head.footer = (link(planner.listed(head, "providers", head.label("partners"), away, 40)),)
    traps.dead_ends(planner, head, details)
    traps.copies(planner, details, int(pages * mixture.traps * 0.4))


def _bodies(planner: Planner, count: int, services: int, pages: int) -> list[Site]:
    """Return providers. Some of their services are named on their own pages too, a fifth only there."""
    rng = planner.rng
    sites = []
    for _ in range(count):
        site = planner.site(rng.choice(planner.mixture.vocabularies), jargon=planner.mixture.jargon)
        provider_site(planner, site, max(1, services // (5 * count)), max(14, pages // count), others=0.05)
        sites.append(site)
    return sites


def _detail(planner: Planner, head: Site, service: Service) -> Page:
    """Return a page about one service; some pages name its address twice, some mention it without an address."""
    rng = planner.rng
    facts = Facts("", ((head.label("provider"), (Anchor(service.site.home, service.site.names.organisation),)),))
    title = planner.service_title(head, service)
    page = planner.page(head, rng.choice(("server", "entry")), title, Prose(rng.randint(1, 3)), facts)
    ways = [planner.mixture.way(rng) for _ in range(rng.choice((1, 1, 2)))]
    for way in dict.fromkeys(ways):
        planner.exposures.put(page, service, "text" if way in ("sitemap", "csw-record") else way)
    return page


def _heading(planner: Planner, head: Site, number: int) -> str:
    """Return the title of a list: one of the web's themes, a title of a theme, or a number."""
    themes = [theme.words[head.language.code] for theme in planner.mixture.vocabularies]
    names = [words.name for words in themes] + [title for words in themes for title in words.titles]
    return f"{head.label('services')}: {names[number] if head.spoken else number + 1}"


def _lists(planner: Planner, head: Site, details: list[Page], pages: int) -> list[Page]:
    """Return lists of all entries in several orders, some with other sortings."""
    rng = planner.rng
    anchors = [link(page) for page in details]
    per_leaf = rng.choice((15, 20, 30))
    groups = max(2, min(12, len(anchors) // 50))
    lists = [
        planner.listed(head, "list", _heading(planner, head, n), anchors[n::groups], per_leaf) for n in range(groups)
    ]
    if pages > 300:
        traps.facets(planner, head, lists[0], 4)
        by_date = rng.sample(anchors, len(anchors) // 2)
        lists.append(planner.listed(head, "new", head.label("updated"), by_date, per_leaf))
    return lists
