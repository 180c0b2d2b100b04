"""Plan a metadata catalogue as GeoNetwork shows it: searches by page, records with tabs, XML, and search in JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import kind, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, OtherAnswer, Page, Prose, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.services import capabilities_request

_TABS = ("simple", "distribution", "metadata", "ISOAll")
_ROWS = 25
_PLACES = ("xml", "tab", "page", "tab")


def geonetwork(planner: Planner, pages: int) -> None:
    """Plan a catalogue of records and the site of the office that keeps it, with about `pages` pages."""
    rng, mixture = planner.rng, planner.mixture
    office = organisation(planner, rng.choice(mixture.vocabularies), max(12, int(pages * rng.uniform(0.2, 0.35))))
    site = planner.beside(office.site, rng.choice(("metadata", "sdi", "catalogue", "gn")))
    site.design = "metadata"
    planner.web.seeds.append(office.site.home)
    records = _Records(planner, site)
    office.home.blocks.append(
        Prose(1, (Anchor(records.home.address, rng.choice((site.label("catalogue"), "GeoNetwork"))),))
    )
    records.fill(pages - planner.web.pages, [office.site, *(planner.site(theme) for theme in mixture.vocabularies)])
    planner.outskirts = office.home


class _Records:
    """The pages of one catalogue."""

    def __init__(self, planner: Planner, site: Site) -> None:
        self._planner, self._site, self._lot = planner, site, planner.rng
        self._root = f"/geonetwork/srv/{self._lot.choice(('eng', 'ger', 'en', 'fre'))}"
        self.home = planner.put(site, f"{self._root}/main.home", site.label("catalogue"), Prose(1))
        home = Page(site.home, site, site.name, refresh=self.home.address)
        planner.web.add(home)
        self._place = self._lot.choice(_PLACES)
        """Place in which most records of this catalogue name their service: "xml" (the metadata as XML), "tab" (a
        tab of the record's page) or "page" (the record's page itself)."""
        self._answers: list[tuple[dict[str, Any], list[Service]]] = []
        site.navigation = (Anchor(self.home.address, site.label("home")),)

    def fill(self, pages: int, keepers: Sequence[Site]) -> None:
        """Write about `pages` pages with records of the sites `keepers`."""
        planner, rng, site = self._planner, self._lot, self._site
        themes = [*planner.mixture.vocabularies, *planner.mixture.leisure[:2]]
        share = rng.uniform(0.1, 0.25)
        shown: dict[str, list[Page]] = {theme.name: [] for theme in themes}
        begun = planner.web.pages
        while planner.web.pages - begun + len(self._answers) * 0.16 + 12 < pages * (0.96 - planner.mixture.traps * 0.4):
            voice = planner.in_theme(site, rng.choice(themes))
            served = voice.theme.relevant and rng.random() < share * 1.5
            shown[voice.theme.name].append(self._record(voice, rng.choice(keepers) if served else None))
        records = [page for some in shown.values() for page in some]
        starts = [
            self._search(f"any={site.words.nouns[0]}&" if rng.random() < 0.3 else "", site.label("search"), records),
            *(
                self._search(f"themekey={name}&", planner.in_theme(site, theme).words.name, shown[name])
                for theme in themes
                if shown[name := theme.name]
            ),
        ]
        self.home.blocks.append(Listing(site.label("theme"), tuple(map(link, starts))))
        self.home.blocks.append(
            Listing(site.label("updated"), tuple(map(link, rng.sample(records, min(5, len(records))))))
        )
        if rng.random() < 0.4:
            self._json()
        traps.noise(planner, site, records, pages)

    def _record(self, voice: Site, keeper: Site | None) -> Page:
        planner, rng = self._planner, self._lot
        number, title = planner.number(), planner.title(voice)
        form = f"{self._root}/metadata.show?id={number}"
        page = planner.put(voice, form, title, Prose(1), planner.facts(voice, title))
        tabs = [
            planner.put(
                voice,
                f"{form}&currTab={tab}",
                title,
                Facts("", ((voice.label("provider"), (voice.names.organisation,)),)),
            )
            for tab in rng.sample(_TABS, rng.choice((0, 0, 1, 2)))
        ]
        made = [planner.services.make(keeper, kind(planner)) for _ in range(rng.choice((1, 1, 1, 2)))] if keeper else []
        place = self._place if rng.random() < 0.8 else "page"
        if made and place == "tab" and not tabs:
            tabs.append(planner.put(voice, f"{form}&currTab=distribution", title))
        for service in made:
            target = tabs[-1] if place == "tab" else page
            planner.name(
                target,
                service,
                ("xml",) if place == "xml" else ("href-getcapabilities", "href-bare", "text", "href-getmap"),
            )
        page.blocks.append(Listing("", tuple(Anchor(tab.address, tab.address.rpartition("=")[2]) for tab in tabs)))
        if not made and rng.random() < 0.3:
            self._plain_xml(page, title)
        self._answers.append(({"title": title, "geonet:info": {"id": str(number)}}, made))
        return page

    def _plain_xml(self, page: Page, title: str) -> None:
        """Add the XML of a record that names a file."""
        address = self._site.at(f"{self._root}/xml.metadata.get?id={self._planner.number()}")
        file = self._site.at("/files/data.zip")
        body = f'<?xml version="1.0"?>\n<simpledc><title>record</title><relation>{file}</relation></simpledc>\n'
        self._planner.web.add(OtherAnswer(address, "application/xml", body))
        page.blocks.append(Listing("", (Anchor(address, "XML"),)))

    def _search(self, query: str, title: str, records: Sequence[Page]) -> Page:
        """List records on pages as a search shows them, each named by its first record."""
        planner, site = self._planner, self._site
        starts = list(range(0, max(1, len(records)), 12))
        paths = [f"{self._root}/main.search?{query}from={start + 1}&to={start + 12}" for start in starts]
        found = []
        for start, path in zip(starts, paths, strict=True):
            around = tuple(Anchor(site.at(other), str(n + 1)) for n, other in enumerate(paths) if other != path)
            anchors = tuple(map(link, records[start : start + 12]))
            found.append(planner.put(site, path, f"{title} {start + 1}", Listing("", anchors), Listing("", around)))
        return found[0]

    def _json(self) -> None:
        """Add the answers of the search service `q` and a link to the first."""
        planner, site, rng = self._planner, self._site, self._lot
        count = len(self._answers)
        for start in range(0, count, _ROWS):
            address = self._q(start)
            metadata, targets = [], []
            for record, made in self._answers[start : start + _ROWS]:
                urls = [capabilities_request(service, rng) for service in made]
                links = [
                    f"{s.title}|{s.title}|{url}|OGC:{s.kind.upper()}|x|1" for s, url in zip(made, urls, strict=True)
                ]
                metadata.append(
                    {**record, "link": [*links, f"{record['title']}||{site.at('/files/data.zip')}|WWW:LINK|x|0"]}
                )
                targets += urls
                for service in made:
                    planner.web.name(service, address, "js")
            last = min(start + _ROWS, count)
            data = {"@from": str(start + 1), "@to": str(last), "summary": {"@count": str(count)}, "metadata": metadata}
            targets += [self._q(last)] if last < count else []
            planner.web.add(
                OtherAnswer(address, "application/json", json.dumps(data, ensure_ascii=False), targets=tuple(targets))
            )
        self.home.blocks.append(Listing("", (Anchor(self._q(0), "JSON"),)))

    def _q(self, start: int) -> str:
        return self._site.at(f"{self._root}/q?_content_type=json&fast=index&from={start + 1}&to={start + _ROWS}")
