"""Plan small sites of the bodies that run services, to which other sites refer; a part of them names its services."""

from __future__ import annotations

from typing import NamedTuple

from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.vocabulary import Theme

LEAST_PAGES = 4
WAYS = ("href-getcapabilities", "href-getmap", "href-bare", "text", "js", "form", "redirect", "xml")
"""The ways by which one page names a service."""


class Organisation(NamedTuple):
    """A small site."""

    site: Site
    home: Page
    pages: tuple[Page, ...]

    def anchor(self) -> Anchor:
        """Return a link to the site's first page."""
        return Anchor(self.site.home, self.site.name)


def organisation(planner: Planner, theme: Theme, pages: int, services: int = 0, *, code: str = "") -> Organisation:
    """Return a site of about `pages` pages; one or two of them name `services` services."""
    rng = planner.rng
    site = planner.site(theme, code=code, jargon=planner.mixture.jargon * rng.uniform(0.2, 0.7))
    home = Page(site.home, site, site.name, [Prose(rng.randint(1, 2))])
    planner.web.add(home)
    count = max(1, pages - 3 - bool(services))
    about = planner.page(site, "about", site.label("about"), Prose(2))
    written = planner.articles(site, rng.choice(("news", "item", "info")), count)
    start = planner.listed(site, "news", site.label("news"), [link(page) for page in written], 20)
    site.navigation = (Anchor(site.home, site.label("home")), link(start), link(about))
    if services:
        place = planner.page(site, "maps", site.label(rng.choice(("maps", "services", "data", "download"))), Prose(2))
        rng.choice((home, about, start)).blocks.append(Listing("", (link(place),)))
        for _ in range(services):
            planner.name(place, planner.services.make(site, kind(planner)), WAYS)
    return Organisation(site, home, (home, about, *written))


def kind(planner: Planner) -> str:
    """Return the kind of the next service: four of five are WMS."""
    return planner.services.other_kind() if planner.rng.random() < 0.2 else "wms"


def made(planner: Planner, sites: list[Site], count: int) -> list[Service]:
    """Return `count` new services of these sites."""
    return [planner.services.make(planner.rng.choice(sites), kind(planner)) for _ in range(count)]
