"""Plan single-page applications: empty HTML whose scripts and JSON documents name services and more documents."""

from __future__ import annotations

import json
from collections.abc import Sequence

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.leisure import leisure_site
from geocrawl.lab.made_worlds.organisations import kind, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Listing, OtherAnswer, Page, Raw, Service, Site
from geocrawl.lab.made_worlds.planner import Planner
from geocrawl.lab.made_worlds.services import capabilities_request

_ROOTS = ("/api/v1", "/rest", "/backend/api", "/data")


def spa(planner: Planner, pages: int) -> None:
    """Plan applications and the ordinary sites that show them, with about `pages` pages."""
    rng, mixture = planner.rng, planner.mixture
    sites = [
        leisure_site(planner, rng.choice(mixture.leisure), max(20, int(pages * rng.uniform(0.1, 0.15))))
        for _ in range(3)
    ]
    body = organisation(planner, rng.choice(mixture.vocabularies), max(8, pages // 20), 1)
    planner.web.seeds += [body.site.home, sites[0].home]
    count = max(2, min(6, pages // 250))
    services = max(8, round(pages * rng.uniform(0.03, 0.07)))
    for number in range(count):
        theme = rng.choice(mixture.vocabularies)
        app = _Application(
            planner, planner.site(theme, host=f"{rng.choice(('app', 'portal', 'view'))}{number + 1}", jargon=0.1)
        )
        left = int(pages * 0.97) - planner.web.pages
        app.fill(left // (count - number), services // count)
        body.home.blocks.append(Listing("", (Anchor(app.site.home, app.site.name),)))
    for site in sites[1:]:
        body.home.blocks.append(Listing("", (Anchor(site.home, site.name),)))
    planner.outskirts = body.home


class _Application:
    """One application: a shell, its configuration, and documents that link to each other."""

    def __init__(self, planner: Planner, site: Site) -> None:
        self._planner, self.site, self._lot = planner, site, planner.rng
        site.design = "shell"
        self._root = self._lot.choice(_ROOTS)
        self._numbered = self._lot.random() < 0.5
        self._documents: list[str] = []

    def fill(self, pages: int, services: int) -> None:
        """Write about `pages` documents that name `services` services."""
        planner, rng, site = self._planner, self._lot, self.site
        made = [planner.services.make(site, kind(planner)) for _ in range(services)]
        start = site.at(self._root)
        home = Page(site.home, site, site.name, [Raw('<div id="root"></div>')])
        home.blocks.append(Listing("", (Anchor(start, "api"),)))
        planner.web.add(home)
        configured = made[: len(made) // rng.choice((2, 3, 8))]
        self._configure(home, configured)
        rest = made[len(configured) :]
        themes = [site.theme, *planner.mixture.leisure[:4]]
        size = max(3, (pages - 8) // (2 * len(themes)))
        topics = []
        for theme in themes:
            voice = planner.in_theme(site, theme)
            topics.append(
                self._topic(voice, size * (2 if rng.random() < 0.5 else 1), rest if theme is site.theme else [])
            )
        rng.shuffle(topics)
        self._add(start, site.name, [("topics" if rng.random() < 0.5 else "data", to, text) for to, text in topics])
        if rng.random() < 0.5:
            self._data_json(home, rest[: len(rest) // 3])
        traps.outages(planner, site, [home], 2)

    def _topic(self, voice: Site, size: int, services: Sequence[Service]) -> tuple[str, str]:
        """Add the pages of a topic's list and its items; return (address, title) of the first page."""
        planner, rng = self._planner, self._lot
        items = []
        waiting = list(services)
        for number in range(size):
            title = planner.title(voice)
            here: list[Service] = []
            while waiting and rng.random() < max(0.12, len(waiting) / (size - number)) and len(here) < 4:
                here.append(waiting.pop())
            items.append((self._item(voice, title, here), title))
        if waiting:
            items.append((self._item(voice, voice.words.name, waiting), voice.words.name))
        rng.shuffle(items)
        leaves = [items[n : n + 20] for n in range(0, len(items), 20)]
        name = voice.theme.name if not self._numbered else f"{planner.number()}"
        addresses = [voice.at(f"{self._root}/topics/{name}{f'?page={n + 1}' if n else ''}") for n in range(len(leaves))]
        for number, leaf in enumerate(leaves):
            links = [("detail", to, title) for to, title in leaf]
            links += [("page", to, str(n + 1)) for n, to in enumerate(addresses) if n != number]
            self._add(addresses[number], voice.words.name, links)
        return addresses[0], voice.words.name

    def _item(self, voice: Site, title: str, services: Sequence[Service]) -> str:
        planner, rng = self._planner, self._lot
        address = voice.at(
            f"{self._root}/items/{planner.number()}{rng.choice(('', '.json')) if self._numbered else ''}"
        )
        text = " ".join(planner.writer(voice).sentence() for _ in range(rng.randint(1, 5)))
        links = [
            (rng.choice(("service", "wms", "map", "related")), capabilities_request(service, rng), service.title)
            for service in services
        ]
        links.append(("terms", voice.at(f"{self._root}/terms"), voice.label("imprint")))
        self._add(address, title, links, text=text)
        for each in services:
            planner.web.name(each, address, "js")
        return address

    def _add(self, address: str, title: str, links: Sequence[tuple[str, str, str]], *, text: str = "") -> None:
        rows = [{"rel": rel, "href": to, "title": label} for rel, to, label in links]
        body = json.dumps({"title": title, "text": text, "links": rows}, ensure_ascii=False)
        targets = tuple(to for _, to, _ in links)
        self._planner.web.add(OtherAnswer(address, "application/json; charset=utf-8", body, targets=targets))

    def _configure(self, home: Page, services: Sequence[Service]) -> None:
        """Name services in the application's script, or in a file that the shell names."""
        planner, rng, site = self._planner, self._lot, self.site
        layers = [{"type": "wms", "title": service.title, "url": service.base, "layers": "0"} for service in services]
        code = json.dumps({"layers": layers}, ensure_ascii=False)
        if rng.random() < 0.5:
            address = site.at(f"/static/map-{planner.number()}.js")
            planner.web.add(OtherAnswer(address, "application/javascript", f"window.config = {code};\n"))
            home.scripts = (*home.scripts, address)
        else:
            address = site.at("/static/layers.json")
            planner.web.add(OtherAnswer(address, "application/json", code))
            home.blocks.append(Listing("", (Anchor(address, "config"),)))
        for each in services:
            planner.web.name(each, address, "js")

    def _data_json(self, home: Page, services: Sequence[Service]) -> None:
        """Add a list of data sets (DCAT) with the addresses of some services again."""
        planner, rng, site = self._planner, self._lot, self.site
        urls = [capabilities_request(service, rng) for service in services]
        sets = [
            {"title": each.title, "distribution": [{"accessURL": url, "format": each.kind.upper()}]}
            for each, url in zip(services, urls, strict=True)
        ]
        sets += [
            {"title": planner.title(site), "distribution": [{"accessURL": site.at("/f.csv"), "format": "CSV"}]}
            for _ in range(20)
        ]
        address = site.at("/data.json")
        planner.web.add(
            OtherAnswer(
                address, "application/json", json.dumps({"dataset": sets}, ensure_ascii=False), targets=tuple(urls)
            )
        )
        home.blocks.append(Listing("", (Anchor(address, "data.json"),)))
        for each in services:
            planner.web.name(each, address, "js")
