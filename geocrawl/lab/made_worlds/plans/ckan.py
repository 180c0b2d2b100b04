"""Plan a catalogue of data sets as CKAN shows it: lists by page, data sets, their files, and an interface in JSON.

Most data sets are tables and documents. A service stands on the page of its resource, on some webs only there, and in
the answers of the interface where a page links to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from geocrawl.lab.made_worlds import traps
from geocrawl.lab.made_worlds.organisations import WAYS, kind, organisation
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, OtherAnswer, Page, Prose, Raw, Service, Site
from geocrawl.lab.made_worlds.planner import Planner, link
from geocrawl.lab.made_worlds.services import capabilities_request
from geocrawl.lab.made_worlds.vocabulary import Theme

_FILES = ("CSV", "XLSX", "PDF", "ZIP", "JSON", "ODS", "XML", "HTML")
_PLAIN = re.compile(r"[^a-z0-9]+")
_ON_RESOURCE = ("href-getcapabilities", "href-bare", "text", "href-getmap")
_ROWS = 50


def ckan(planner: Planner, pages: int) -> None:
    """Plan a catalogue with about `pages` pages and the sites of some of its publishers."""
    rng, mixture = planner.rng, planner.mixture
    site = planner.site(rng.choice(mixture.vocabularies), host=rng.choice(("opendata", "data", "daten", "catalog")))
    site.design = "ckan"
    planner.web.seeds.append(site.home)
    catalogue = _Catalogue(planner, site)
    count = max(3, pages // 160)
    bodies = [
        organisation(
            planner,
            rng.choice(mixture.vocabularies),
            max(5, pages // 80),
            rng.choice((0, 0, 2)),
            code=site.language.code,
        )
        for _ in range(count)
    ]
    catalogue.publishers += [body.site for body in bodies]
    catalogue.fill(pages - planner.web.pages)
    catalogue.home.blocks.append(Listing(site.label("partners"), tuple(body.anchor() for body in bodies[::2])))
    for body in bodies[1::2]:
        rng.choice(catalogue.bodies).blocks.append(Listing(site.label("provider"), (body.anchor(),)))
    planner.outskirts = catalogue.home


class _Catalogue:
    """The pages of one catalogue."""

    def __init__(self, planner: Planner, site: Site) -> None:
        self._planner, self._site, self._lot = planner, site, planner.rng
        self.home = Page(site.home, site, site.name, [Prose(1)])
        planner.web.add(self.home)
        self._prefix = self._lot.choice(("", "", f"/{site.language.code}"))
        self._inline = self._lot.random() < 0.4
        """Whether the page of a data set names its services itself."""
        self.sets: list[Page] = []
        self.publishers: list[Site] = []
        self.bodies: list[Page] = []
        """Pages about publishers."""
        self._packages: list[dict[str, Any]] = []
        self._named: list[tuple[int, Service]] = []
        """(number of the package, service)."""
        places = ("dataset", "organization", "group")
        labels = ("data", "provider", "theme")
        site.navigation = tuple(
            Anchor(site.at(f"{self._prefix}/{place}"), site.label(label))
            for place, label in zip(places, labels, strict=True)
        )

    def fill(self, pages: int) -> None:
        """Write about `pages` pages."""
        planner, rng, mixture = self._planner, self._lot, self._planner.mixture
        guide = planner.articles(self._site, "pages", max(3, pages // 40))
        self._site.footer = tuple(map(link, guide[:3]))
        files = rng.uniform(0.6, 1.4)
        share = rng.uniform(0.1, 0.22)
        themes: list[Theme] = []
        begun = planner.web.pages
        while planner.web.pages - begun + len(themes) * 0.12 + 24 < pages * (0.95 - mixture.traps * 0.4):
            theme = rng.choice([*mixture.vocabularies, *mixture.leisure])
            themes.append(theme)
            self._data_set(theme, files, rng.random() < (share * 1.8 if theme.relevant else share * 0.15))
        self._lists(themes)
        if rng.random() < 0.35:
            self._interface()
        traps.noise(planner, self._site, self.sets, pages)

    def _data_set(self, theme: Theme, files: float, served: bool) -> None:
        planner, rng = self._planner, self._lot
        voice = planner.in_theme(self._site, theme)
        title = planner.title(voice)
        name = _PLAIN.sub("-", title.lower()).strip("-") if voice.spoken else ""
        name = f"{name or 'set'}-{planner.number()}"
        page = planner.put(
            voice, f"{self._prefix}/dataset/{name}", title, Prose(rng.randint(1, 3)), planner.facts(voice, title)
        )
        self.sets.append(page)
        resources: list[dict[str, str]] = []
        package = {"id": f"{rng.getrandbits(64):016x}", "name": name, "title": title, "resources": resources}
        self._packages.append(package)
        for _ in range(int(files + rng.random())):
            self._file(page, resources)
        for _ in range(rng.choice((1, 1, 1, 2)) if served else 0):
            self._service(page, resources)

    def _resource_page(self, page: Page, text: str) -> Page:
        path = page.address.removeprefix(page.site.home)
        number = f"{self._lot.getrandbits(48):012x}"
        made = self._planner.put(
            page.site, f"/{path}/resource/{number}", f"{page.title} - {text}", Prose(1, (link(page),))
        )
        page.blocks.append(Listing("", (link(made, text),)))
        return made

    def _file(self, page: Page, resources: list[dict[str, str]]) -> None:
        form = self._lot.choice(_FILES)
        url = page.site.at(f"/download/{self._planner.number()}.{form.lower()}")
        made = self._resource_page(page, self._lot.choice((form, page.title, page.site.label("download"))))
        made.blocks.append(Raw(f'<p class="muted">URL: <a class="resource-url-analytics" href="{url}">{url}</a></p>'))
        resources.append({"name": page.title, "format": form, "url": url})

    def _service(self, page: Page, resources: list[dict[str, str]]) -> None:
        planner, rng = self._planner, self._lot
        service = planner.services.make(rng.choice(self.publishers), kind(planner))
        url = capabilities_request(service, rng) if rng.random() < 0.5 else service.base
        form = service.kind.upper() if rng.random() < 0.7 else ""
        resources.append({"name": service.title, "format": form, "url": url})
        self._named.append((len(self._packages) - 1, service))
        made = self._resource_page(page, self._planner.exposures.anchor_text(page, service))
        made.blocks.append(Facts("", ((page.site.label("updated"), (str(rng.randint(2004, 2024)),)),)))
        planner.name(made, service, _ON_RESOURCE)
        if self._inline:
            planner.name(page, service, WAYS)

    def _lists(self, themes: Sequence[Theme]) -> None:
        """List all data sets by page, those of each theme and each publisher; the home page names some."""
        planner, rng, site = self._planner, self._lot, self._site
        anchors = list(map(link, self.sets))
        start = planner.put(site, f"{self._prefix}/dataset", f"{len(anchors):,} {site.label('data')}")
        planner.listed(site, "dataset", site.label("data"), rng.sample(anchors, len(anchors)), 20, head=start)
        groups = self._grouped("group", [(theme.words[site.language.code].name, theme.name) for theme in themes])
        bodies = self._grouped("organization", [(rng.choice(self.publishers).name, "") for _ in self.sets])
        if rng.random() < 0.6:
            traps.facets(planner, site, start, rng.randint(3, 6))
        self.bodies = bodies[1:]
        self.home.blocks.append(Listing(site.label("theme"), (*map(link, groups), link(start), link(bodies[0]))))

    def _grouped(self, place: str, names: Sequence[tuple[str, str]]) -> list[Page]:
        planner, site = self._planner, self._site
        top = planner.put(
            site, f"{self._prefix}/{place}", site.label("provider" if place == "organization" else "theme")
        )
        by_name: dict[str, list[Anchor]] = {}
        for page, (name, _) in zip(self.sets, names, strict=True):
            by_name.setdefault(name, []).append(link(page))
        heads = []
        for number, (name, anchors) in enumerate(by_name.items()):
            head = planner.put(site, f"{self._prefix}/{place}/{place[:3]}{number + 1}", name)
            heads.append(planner.listed(site, place, name, anchors[:60], 20, head=head))
        top.blocks.append(Listing("", tuple(map(link, heads))))
        return [top, *heads]

    def _interface(self) -> None:
        """Add the answers of `package_search` and a link to the first of them."""
        site = self._site
        count = len(self._packages)

        def address(start: int) -> str:
            return site.at(f"/api/3/action/package_search?rows={_ROWS}&start={start}")

        for start in range(0, count, _ROWS):
            part = self._packages[start : start + _ROWS]
            data = {"help": "", "success": True, "result": {"count": count, "results": part}}
            targets = [resource["url"] for package in part for resource in package["resources"]]
            targets += [address(start + _ROWS)] if start + _ROWS < count else []
            body = json.dumps(data, ensure_ascii=False)
            self._planner.web.add(
                OtherAnswer(address(start), "application/json;charset=utf-8", body, targets=tuple(targets))
            )
            for number, service in self._named:
                if start <= number < start + _ROWS:
                    self._planner.web.name(service, address(start), "js")
        about = self._planner.put(site, "/about", site.label("about"), Prose(2))
        about.blocks.append(Listing("", (Anchor(address(0), "CKAN API"),)))
        self.home.blocks.append(Listing("", (link(about),)))
