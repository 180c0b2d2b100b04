"""Plan sites that offer no services: articles, shops, towns; some contain the only path to a provider."""

from __future__ import annotations

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Raw, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.vocabulary import Theme

LEAST_PAGES = 8


def leisure_site(
    planner: Planner, theme: Theme, pages: int, away: tuple[Anchor, ...] = (), *, jargon: float = 0.0
) -> Site:
    """Return a site of about `pages` pages; the links `away` lead to other sites, from pages far apart.

    With `jargon` the site writes about services without offering any: a manual, a forum, the log of somebody in the
    trade.
    """
    rng = planner.rng
    site = planner.site(theme, jargon=jargon)
    home = Page(site.home, site, site.label("home"), [Prose(rng.randint(1, 3))])
    planner.web.add(home)
    begun = planner.web.pages
    about = planner.page(site, "about", site.label("about"), Prose(3))
    contact = planner.page(site, "contact", site.label("contact"), Prose(1))
    site.footer = (link(contact), Anchor("http://www.facebook.com/" + site.host.partition(".")[0], "Facebook"))
    if planner.mixture.traps > 0.06 and rng.random() < 0.3 and pages > 40:
        site.footer += (traps.calendar(planner, site, min(pages // 4, 48)),)
    spare = max(2, pages - 4 - (planner.web.pages - begun))
    articles = planner.articles(site, rng.choice(("post", "text", "item", theme.name)), int(spare * 0.88))
    per_leaf = rng.choice((10, 15, 20))
    chapters = [articles[n::3] for n in range(3)] if len(articles) > 40 else [articles]
    lists = [
        planner.listed(site, "list", planner.title(site, placed=False), [link(page) for page in chapter], per_leaf)
        for chapter in chapters
    ]
    site.navigation = (Anchor(site.home, site.label("home")), *map(link, lists), link(about))
    home.blocks.append(Listing(site.label("news"), tuple(link(page) for page in articles[-8:])))
    if theme.name in ("warehouse", "computing") and articles:
        _mislead(planner, site, articles)
    for anchor in away:
        _lead_away(planner, site, [about, *articles], anchor)
    planner.recommend(site, articles)
    if articles:
        traps.dead_ends(planner, site, articles)
        traps.copies(planner, articles, int(pages * planner.mixture.traps * 0.5))
    return site


def fill(planner: Planner, site: Site, count: int) -> None:
    """Add `count` articles to a site and to its home page's list, to reach the number of pages asked for."""
    if count < 2:
        return
    leaves = max(1, count // 26)
    articles = planner.articles(site, "more", count - leaves)
    per_leaf = -(-len(articles) // leaves)
    first = planner.listed(site, "archive", site.label("archive"), [link(page) for page in articles], per_leaf)
    home = planner.web.answers[site.home]
    assert isinstance(home, Page), "every site has one"
    home.blocks.append(Listing("", (link(first),)))


def _mislead(planner: Planner, site: Site, articles: list[Page]) -> None:
    """Add addresses that look like services and are none: a shop's parameters, a window manager's manual."""
    rng = planner.rng
    shop = Page(site.at("/shop/index?service=WMS&item=1"), site, planner.title(site), [Prose(2)])
    manual = planner.page(site, "wms", "WindowManagerService", Prose(2))
    demo = planner.page(site, "capabilities", planner.title(site), Prose(2))
    planner.web.add(shop)
    for page in (shop, manual, demo):
        rng.choice(articles).blocks.append(Prose(1, (link(page),)))
    rng.choice(articles).blocks.append(Raw("<pre>WMS.getService().getCapabilities(request);</pre>"))


def _lead_away(planner: Planner, site: Site, pages: list[Page], anchor: Anchor) -> None:
    """Add a tunnel: home page, an ordinary page, perhaps another, and from there the link."""
    rng = planner.rng
    door = rng.choice(pages)
    steps = rng.randint(0, 2)
    for _ in range(steps):
        inner = planner.page(site, "office", planner.title(site), Prose(rng.randint(1, 4)))
        door.blocks.append(Prose(1, (link(inner),)) if rng.random() < 0.5 else Listing("", (link(inner),)))
        door = inner
    text = anchor.text if rng.random() < 0.6 else site.label("map_office")
    door.blocks.append(Prose(1, (anchor._replace(text=text),)))
