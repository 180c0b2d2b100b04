"""Plan a web of many sites in several languages: providers and others, hubs, and tunnels from pages of other topics."""

from __future__ import annotations

from collections.abc import Sequence

from geocrawl.lab.made_worlds.catalogue import Provider, provider_site
from geocrawl.lab.made_worlds.leisure import LEAST_PAGES, leisure_site
from geocrawl.lab.made_worlds.parts import Anchor, Listing, Page, Prose, Site
from geocrawl.lab.made_worlds.planner import Planner, link


def mixed(planner: Planner, pages: int) -> None:
    """Plan a web of many sites with about `pages` pages."""
    rng, mixture = planner.rng, planner.mixture
    services = round(pages * rng.uniform(0.055, 0.085))
    count = max(3, pages // rng.randint(200, 320))
    parts = _shares(planner, count, 0.4)
    size = pages * rng.uniform(0.42, 0.55)
    providers = []
    for part in parts:
        theme = rng.choice(mixture.vocabularies)
        site = planner.site(theme, jargon=mixture.jargon * rng.uniform(0.3, 1.3))
        providers.append(provider_site(planner, site, max(1, round(services * part)), max(16, round(size * part))))
    hidden = providers[: round(count * mixture.hidden)]
    open_ones = providers[len(hidden) :]
    hubs = 2 if pages >= 600 else 1
    strangers = _strangers(planner, hidden, open_ones, pages - planner.web.pages - hubs * 6)
    _partners(planner, providers, open_ones, strangers)
    for _ in range(hubs):
        planner.web.seeds.append(hub(planner, open_ones, strangers).home)
    planner.web.seeds += [rng.choice(open_ones).site.home, rng.choice(strangers).home]


def _shares(planner: Planner, count: int, least: float) -> list[float]:
    """Return `count` shares of 1, none below `least`; a few shares are large."""
    weights = [least + planner.rng.expovariate(1.0) for _ in range(count)]
    return [weight / sum(weights) for weight in weights]


def _strangers(planner: Planner, hidden: Sequence[Provider], open_ones: Sequence[Provider], pages: int) -> list[Site]:
    """Return sites of other topics; each hidden provider has two or three tunnels, some open ones have one."""
    rng, mixture = planner.rng, planner.mixture
    count = max(3, min(pages // rng.randint(60, 110), pages // LEAST_PAGES))
    away: list[list[Anchor]] = [[] for _ in range(count)]
    for provider in hidden:
        for target in (provider.catalogue, *rng.sample([*provider.sets], min(2, len(provider.sets)))):
            rng.choice(away).append(Anchor(target.address, provider.site.name))
    for provider in open_ones:
        if rng.random() < 0.4:
            rng.choice(away).append(Anchor(provider.site.home, provider.site.name))
    sites = []
    for number, part in enumerate(_shares(planner, count, 0.5)):
        writes = number > 1 and rng.random() < mixture.writers
        theme, jargon = (rng.choice(mixture.vocabularies), 0.4) if writes else (rng.choice(mixture.leisure), 0.0)
        size = max(LEAST_PAGES, round(pages * part * 0.96))
        sites.append(leisure_site(planner, theme, size, tuple(away[number]), jargon=jargon))
    return sites


def _partners(
    planner: Planner, providers: Sequence[Provider], open_ones: Sequence[Provider], strangers: Sequence[Site]
) -> None:
    """Link providers to each other and to sites of other topics."""
    rng = planner.rng
    for provider in providers:
        others = [other for other in open_ones if other is not provider]
        chosen = rng.sample(others, min(len(others), rng.randint(1, 4)))
        anchors = [Anchor(other.site.home, other.site.name) for other in chosen]
        anchors += [Anchor(site.home, site.name) for site in rng.sample(strangers, min(2, len(strangers)))]
        rng.shuffle(anchors)
        provider.links.blocks.append(Listing(provider.site.label("partners"), tuple(anchors)))


def hub(planner: Planner, providers: Sequence[Provider], strangers: Sequence[Site]) -> Site:
    """Return a directory of sites: pages that are only anchors."""
    rng = planner.rng
    site = planner.site(rng.choice(planner.mixture.leisure), host=rng.choice(("index", "atlas-of-sites", "start")))
    home = Page(site.home, site, site.name, [Prose(1)])
    planner.web.add(home)
    site.navigation = (Anchor(site.home, site.label("home")),)
    anchors = [Anchor(provider.site.home, provider.site.name) for provider in providers]
    anchors += [Anchor(stranger.home, stranger.name) for stranger in strangers]
    rng.shuffle(anchors)
    featured = tuple(anchors[: rng.randint(2, 6)])
    groups = min(5, max(1, len(anchors) // 6))
    pages = [
        planner.page(site, "cat", f"{site.label('links')} {n + 1}", Listing("", tuple(anchors[n::groups])))
        for n in range(groups)
    ]
    home.blocks.append(Listing("", tuple(map(link, pages))))
    home.blocks.append(Listing(site.label("news"), featured))
    return site
