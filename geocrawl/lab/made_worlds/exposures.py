"""Name services on pages by links of many spellings, text, code, metadata records, redirects, forms, sitemaps."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from html import escape
from urllib.parse import urlsplit

from geocrawl.lab.made_worlds.documents import layers
from geocrawl.lab.made_worlds.mixture import Mixture
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, OtherAnswer, Page, Piece, Prose, Raw, Service, Web
from geocrawl.lab.made_worlds.services import capabilities_request, map_request, with_query
from geocrawl.lab.made_worlds.written import written

_RECORD = """<?xml version="1.0" encoding="UTF-8"?>
<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco">
<gmd:fileIdentifier><gco:CharacterString>{id}</gco:CharacterString></gmd:fileIdentifier>
<gmd:identificationInfo><gmd:MD_DataIdentification><gmd:citation><gmd:CI_Citation><gmd:title><gco:CharacterString>\
{title}</gco:CharacterString></gmd:title></gmd:CI_Citation></gmd:citation></gmd:MD_DataIdentification>\
</gmd:identificationInfo>
<gmd:distributionInfo><gmd:MD_Distribution><gmd:transferOptions><gmd:MD_DigitalTransferOptions><gmd:onLine>\
<gmd:CI_OnlineResource><gmd:linkage><gmd:URL>{url}</gmd:URL></gmd:linkage><gmd:protocol><gco:CharacterString>\
{protocol}</gco:CharacterString></gmd:protocol></gmd:CI_OnlineResource></gmd:onLine></gmd:MD_DigitalTransferOptions>\
</gmd:transferOptions></gmd:MD_Distribution></gmd:distributionInfo>
</gmd:MD_Metadata>
"""
_DUBLIN_CORE = """<?xml version="1.0" encoding="UTF-8"?>
<rdf:Description xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier>{id}</dc:identifier><dc:title>{title}</dc:title><dc:format>{protocol}</dc:format>
<dc:relation>{url}</dc:relation>
</rdf:Description>
"""
_PROTOCOLS = {"arcgis": "ESRI:ArcGIS REST", "ogcapi": "OGC API - Features", "stac": "STAC API"}
_SCRIPTS = (
    'L.tileLayer.wms("{url}", {{layers: "{layer}", format: "image/png"}}).addTo(view{n});',
    'var layer{n} = new OpenLayers.Layer.WMS("{title}", "{url}", {{layers: "{layer}"}});',
    "const source{n} = new ol.source.TileWMS({{url: '{url}', params: {{LAYERS: '{layer}'}}}});",
    "new ol.layer.Image({{source: new ol.source.ImageWMS({{params: {{'LAYERS': '{layer}'}}, url: '{url}'}})}});",
    'map{n}.addLayer(new WMSLayer("{url}", {{ resourceInfo: {{ layerInfos: ["{layer}"] }} }}));',
)


class Exposures:
    """Names services on pages, by one of many ways."""

    def __init__(self, rng: random.Random, mixture: Mixture, web: Web) -> None:
        self._lot = rng
        self._mixture = mixture
        self._web = web
        self._number = 0
        self._put: Mapping[str, Callable[[Page, Service], None]] = {
            "href-getcapabilities": self._capabilities,
            "href-getmap": self._map,
            "href-bare": self._bare,
            "text": self._text,
            "js": self._script,
            "xml": self._record,
            "redirect": self._redirect,
            "form": self._form,
            "robots-disallowed": self._disallowed,
        }

    def put(self, page: Page, service: Service, way: str) -> None:
        """Name a service on a page. A way that does not suit the service's kind is replaced by a plain link."""
        if service.kind != "wms" and way in ("href-getmap", "js", "form"):
            way = "href-bare"
        self._put[way](page, service)

    def anchor_text(self, page: Page, service: Service) -> str:
        """Return the text of a link to a service: a word about services, or a vague one."""
        language = page.site.language
        pool = language.vague if self._lot.random() < self._mixture.vague else language.telling
        return self._lot.choice(pool).format(t=service.title)

    def _row(self, page: Page, *pieces: Piece) -> None:
        """Add `pieces` to the page: at random as a row of its facts, if the page has facts, else at another place."""
        rng, site = self._lot, page.site
        places = [i for i, block in enumerate(page.blocks) if isinstance(block, Facts)]
        if places and rng.random() < 0.6:
            facts = page.blocks[places[0]]
            assert isinstance(facts, Facts), "chosen among those"
            page.blocks[places[0]] = facts._replace(rows=(*facts.rows, (site.label("address"), pieces)))
        elif all(isinstance(piece, Anchor) for piece in pieces) and rng.random() < 0.5:
            anchors = tuple(piece for piece in pieces if isinstance(piece, Anchor))
            block = Prose(1, anchors) if rng.random() < 0.5 else Listing(site.label("services"), anchors)
            page.blocks.insert(rng.randint(0, len(page.blocks)), block)
        else:
            rows = Facts("", ((rng.choice((site.label("services"), site.label("maps"))), pieces),))
            page.blocks.insert(rng.randint(0, len(page.blocks)), rows)

    def _capabilities(self, page: Page, service: Service) -> None:
        url = capabilities_request(service, self._lot)
        self._row(page, Anchor(url, self.anchor_text(page, service), self._spelt(url)))
        self._web.name(service, page.address, "href-getcapabilities")

    def _map(self, page: Page, service: Service) -> None:
        url = map_request(service, layers(service)[0][0], self._lot)
        self._row(page, Anchor(url, self.anchor_text(page, service)))
        self._web.name(service, page.address, "href-getmap")

    def _bare(self, page: Page, service: Service) -> None:
        url = service.base
        if "?" not in url and self._lot.random() < 0.2 and service.kind not in ("ogcapi", "stac"):
            url += "?"
        self._row(page, Anchor(url, self.anchor_text(page, service), self._spelt(url)))
        self._web.name(service, page.address, "href-bare")

    def _text(self, page: Page, service: Service) -> None:
        in_full = self._lot.random() < 0.6 or self._mixture.certain
        url = capabilities_request(service, self._lot) if in_full else service.base
        share = self._lot.random()
        shown: Piece = Raw(f"<code>{escape(url)}</code>") if share < 0.3 else url
        if share > 0.6:
            shown = Raw(written(self._lot, url, page.site.language.code))
        self._row(page, f"{self._lot.choice(page.site.language.jargon)}:", shown)
        self._web.name(service, page.address, "text")

    def _script(self, page: Page, service: Service) -> None:
        rng, number = self._lot, self._next()
        layer = layers(service)[0][0]
        url = with_query(service.base, "") if rng.random() < 0.5 else service.base
        code = rng.choice(_SCRIPTS).format(url=url, layer=layer, title=service.title.replace('"', ""), n=number)
        share = rng.random()
        if share < 0.6:
            page.blocks.append(Raw(f"<script>\n{code}\n</script>"))
            self._web.name(service, page.address, "js")
            return
        if share < 0.85:
            address = page.site.at(f"/static/{'map' if self._mixture.certain else 'view'}-{number}.js")
            self._web.add(OtherAnswer(address, "application/javascript", code + "\n"))
            page.scripts = (*page.scripts, address)
        else:
            address = page.site.at(f"/static/view-{number}.json")
            body = {"layers": [{"type": "wms", "url": service.base, "name": layer, "title": service.title}]}
            self._web.add(OtherAnswer(address, "application/json", json.dumps(body, ensure_ascii=False)))
            page.blocks.append(Listing("", (Anchor(address, page.site.label("viewer")),)))
        self._web.name(service, address, "js")

    def _record(self, page: Page, service: Service) -> None:
        rng, site = self._lot, page.site
        number = self._next()
        path = rng.choice(("/records/{n}.xml", "/md?id={n}&out=xml", "/metadata/{n}/iso19139"))
        address = site.at(path.format(n=f"{rng.getrandbits(32):08x}"))
        url = capabilities_request(service, rng) if rng.random() < 0.6 else service.base
        template = _RECORD if rng.random() < 0.7 else _DUBLIN_CORE
        protocol = _PROTOCOLS.get(service.kind, f"OGC:{service.kind.upper()}")
        body = template.format(id=f"{number:08x}", title=escape(service.title), url=escape(url), protocol=protocol)
        self._web.add(OtherAnswer(address, rng.choice(("application/xml", "text/xml")), body, targets=(url,)))
        self._row(page, Anchor(address, rng.choice(("XML", "ISO 19115", site.label("download")))))
        self._web.name(service, address, "xml")

    def _redirect(self, page: Page, service: Service) -> None:
        rng = self._lot
        address = page.site.at(rng.choice(("/go/{n}", "/r?to={n}", "/s/{n}/open")).format(n=self._next()))
        url = capabilities_request(service, rng)
        status = rng.choice((301, 302, 303, 307))
        self._web.add(OtherAnswer(address, "text/html", "", status, (url,), location=url))
        self._row(page, Anchor(address, self.anchor_text(page, service)))
        self._web.name(service, page.address, "redirect")

    def _form(self, page: Page, service: Service) -> None:
        base, _, query = service.base.partition("?")
        fields = [part.split("=", 1) for part in query.split("&") if part]
        fields += [["SERVICE", "WMS"], ["REQUEST", "GetCapabilities"]]
        hidden = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in fields)
        text = escape(self.anchor_text(page, service))
        html = f'<form action="{escape(base)}" method="get">{hidden}<input type="submit" value="{text}"></form>'
        target = with_query(service.base, "SERVICE=WMS&REQUEST=GetCapabilities")
        page.blocks.append(Raw(html, (target,)))
        self._web.name(service, page.address, "form")

    def _disallowed(self, page: Page, service: Service) -> None:
        """Name the service on a page that robots.txt forbids, to which the given page links."""
        site = page.site
        prefix = self._lot.choice(("/intern/", "/staging/", "/draft/"))
        address = site.at(f"{prefix}{self._next()}.html")
        hidden = Page(address, site, service.title, [Prose(1)])
        self._capabilities(hidden, service)
        self._web.named[address] = [(service, "robots-disallowed")]
        self._web.add(hidden)
        rules = self._web.disallowed.setdefault(site.host, [])
        if prefix not in rules:
            rules.append(prefix)
        self._row(page, Anchor(address, self.anchor_text(page, service)))

    def in_sitemap(self, page: Page, services: list[Service], addresses: list[str]) -> None:
        """Add a site map with these services and pages, which robots.txt names and to which some sites link."""
        rng, site = self._lot, page.site
        packed = rng.random() < 0.4
        address = site.at("/sitemap.xml.gz" if packed else "/sitemap.xml")
        urls = [capabilities_request(service, rng) for service in services] + addresses
        entries = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
        body = (
            f'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
        )
        kind = "application/gzip" if packed else "application/xml"
        self._web.add(OtherAnswer(address, kind, body, targets=tuple(urls), packed=packed, is_map=True))
        self._web.sitemaps.setdefault(site.host, []).append(address)
        if rng.random() < 0.6:
            page.blocks.append(Listing("", (Anchor(address, rng.choice(("XML", "Sitemap"))),)))
        for service in services:
            self._web.name(service, address, "sitemap")

    def in_catalogue_answer(self, page: Page, services: list[Service]) -> None:
        """Add a recorded answer of a catalogue service (CSW GetRecords, OGC 07-006r1, 10.8) naming these services."""
        site = page.site
        number = self._next()
        address = site.at(
            f"/csw{number}?service=CSW&version=2.0.2&request=GetRecords&typeNames=csw:Record&resultType=results"
        )
        urls = [capabilities_request(service, self._lot) for service in services]
        records = "".join(
            f"<csw:Record><dc:title>{escape(service.title)}</dc:title><dct:references>{escape(url)}</dct:references>"
            "</csw:Record>\n"
            for service, url in zip(services, urls, strict=True)
        )
        count = len(services)
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<csw:GetRecordsResponse version="2.0.2" '
            'xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:dc="http://purl.org/dc/elements/1.1/" '
            'xmlns:dct="http://purl.org/dc/terms/">\n'
            f'<csw:SearchResults numberOfRecordsMatched="{count}" numberOfRecordsReturned="{count}">\n{records}'
            "</csw:SearchResults>\n</csw:GetRecordsResponse>\n"
        )
        self._web.add(OtherAnswer(address, "application/xml", body, targets=tuple(urls)))
        self._row(page, Anchor(address, self._lot.choice(("CSW", site.label("catalogue")))))
        for service in services:
            self._web.name(service, address, "csw-record")

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _spelt(self, url: str) -> str:
        """Return the address, now and then with the host in capitals, the default port or a fragment."""
        share = self._lot.random()
        parts = urlsplit(url)
        if share < 0.03:
            return url.replace(parts.netloc, parts.netloc.upper(), 1)
        if share < 0.06 and not parts.port:
            return url.replace(parts.netloc, f"{parts.netloc}:80", 1)
        return f"{url}#top" if share < 0.08 else ""
