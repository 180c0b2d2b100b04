"""Add traps for crawlers: calendars, session ids, copies under other addresses, facets, dead links, errors."""

from __future__ import annotations

from geocrawl.lab.made_worlds.parts import Anchor, Listing, OtherAnswer, Page, Prose, Site, Web
from geocrawl.lab.made_worlds.planner import Planner

_DEAD_HOST = "dead-and-gone.example"


def calendar(planner: Planner, site: Site, months: int) -> Anchor:
    """Add a calendar of `months` months and return a link to the calendar."""
    rng = planner.rng
    form = rng.choice(("/calendar/{y}/{m:02}", "/events?year={y}&month={m}", "/cal.php?d={y}-{m:02}"))
    start = 2025 * 12 - months // 2
    dates = [divmod(start + n, 12) for n in range(months)]
    addresses = [site.at(form.format(y=year, m=month + 1)) for year, month in dates]
    for number, (year, month) in enumerate(dates):
        page = Page(addresses[number], site, f"{site.label('events')} {year}-{month + 1:02}", [Prose(1)])
        around = [Anchor(addresses[n], t) for n, t in ((number - 1, "<<"), (number + 1, ">>")) if 0 <= n < months]
        page.blocks.append(Listing("", tuple(around)))
        planner.web.add(page)
    return Anchor(addresses[months // 2], site.label("events"))


def copies(planner: Planner, pages: list[Page], count: int) -> None:
    """Add copies of pages at addresses with a session id or a campaign's parameters, and links to the copies."""
    rng, web = planner.rng, planner.web
    form = rng.choice((";jsessionid={x}", "?PHPSESSID={x}", "?utm_source=letter{n}&utm_medium=mail", "?ref=box{n}"))
    takers = [page for page in pages if not page.frames]
    for number in range(count if takers else 0):
        page = rng.choice(takers)
        mark = form.format(x=f"{rng.getrandbits(64):016x}", n=number)
        if "?" in page.address:
            mark = mark.replace("?", "&", 1)
        address = page.address + mark
        if mark.startswith(";") and "?" in page.address:
            path, _, query = page.address.partition("?")
            address = f"{path}{mark}?{query}"
        if web.has(address):
            continue
        again = Page(address, page.site, page.title, list(page.blocks), page.jargon, scripts=page.scripts)
        again.copy_of = page.address
        web.add(again)
        for service, way in web.named.get(page.address, ()):
            web.name(service, address, way)
        other = rng.choice(takers)
        other.blocks.append(Listing("", (Anchor(address, page.title),)))


def facets(planner: Planner, site: Site, first: Page, count: int) -> None:
    """Add `count` pages with the links of the list `first` in other orders, at other addresses."""
    names = planner.rng.sample(("title", "date", "rank", "size", "type", "place", "id", "lang"), min(count, 8))
    mark = "&" if "?" in first.address else "?"
    addresses = [f"{first.address}{mark}sort={name}" for name in names]
    links = tuple(Anchor(to, name) for to, name in zip(addresses, names, strict=True))
    listing = next((block for block in first.blocks if isinstance(block, Listing)), Listing("", ()))
    for address in addresses:
        again = listing._replace(anchors=tuple(planner.rng.sample(listing.anchors, len(listing.anchors))))
        planner.web.add(Page(address, site, first.title, [again, Listing(site.label("sort"), links)]))
    first.blocks.append(Listing(site.label("sort"), links))


def outages(planner: Planner, site: Site, pages: list[Page], count: int) -> None:
    """Add links to `count` pages that answer 503, as overloaded and disused parts of a site do."""
    rng = planner.rng
    for _ in range(count if pages else 0):
        address = site.at(f"/{rng.choice(('app', 'db', 'search', 'archive'))}/{planner.number()}")
        planner.web.add(OtherAnswer(address, "text/html", "<title>503</title>", 503))
        rng.choice(pages).blocks.append(Listing("", (Anchor(address, planner.title(site)),)))


def noise(planner: Planner, site: Site, pages: list[Page], size: int) -> None:
    """Add to a site of `size` pages dead links, errors, redirects, outages and copies of pages, at some of `pages`."""
    dead_ends(planner, site, pages)
    outages(planner, site, pages, size // 150)
    copies(planner, pages, int(size * planner.mixture.traps * 0.4))


def troubles(web: Web) -> None:
    """Let the first page of a web link to a page that answers 503, one that answers 429, and three of a dead host."""
    home = web.answers[web.seeds[0]]
    assert isinstance(home, Page), "seeds are pages"
    busy = home.site.at("/busy/report.html"), home.site.at("/busy/queue.html")
    for address, status, retry_after in ((busy[0], 503, "120"), (busy[1], 429, "60")):
        web.add(OtherAnswer(address, "text/html", f"<title>{status}</title>", status, retry_after=retry_after))
    dead = tuple(f"http://{_DEAD_HOST}/{number}" for number in range(3))
    home.blocks.append(Listing("", tuple(Anchor(to, home.site.label("news")) for to in (*busy, *dead))))


def dead_ends(planner: Planner, site: Site, pages: list[Page]) -> None:
    """Add links to missing pages, server errors and hosts that are gone, and detours by redirects."""
    rng, web = planner.rng, planner.web
    for page in rng.sample(pages, min(len(pages), max(1, len(pages) // 25))):
        share, title = rng.random(), planner.title(site)
        if share < 0.3:
            target = site.at(f"/old/{rng.randint(1, 99999)}.html")
        elif share < 0.45:
            target = f"http://{rng.choice(('gone', 'lost', 'formerly'))}{rng.randint(1, 999)}.example/"
        elif share < 0.6:
            target = site.at(f"/error/{rng.getrandbits(24):06x}")
            if not web.has(target):
                web.add(Page(target, site, "500", [Prose(1)], status=500))
        elif share < 0.7:
            target = planner.address(site, "moved")
            web.add(Page(target, site, title, [Prose(1)], refresh=rng.choice(pages).address))
        else:
            target = planner.address(site, "to")
            to = rng.choice(pages).address
            web.add(OtherAnswer(target, "text/html", "", rng.choice((301, 302, 303, 307)), (to,), location=to))
        page.blocks.append(Listing("", (Anchor(target, title),)))
