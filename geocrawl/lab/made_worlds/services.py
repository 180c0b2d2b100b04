"""Draw the services of a made web: their addresses, their behaviour, and the spelling of their requests."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from geocrawl.lab.made_worlds.mixture import Mixture
from geocrawl.lab.made_worlds.parts import Service, Site, Web

_SUB_HOSTS = ("karto", "srv{d}", "view", "mapapi", "ows", "tiles{d}", "services", "ogc{d}", "agis", "node{d}")
_PLACES: Mapping[str, Sequence[str]] = {
    "wms": (
        "/cgi-bin/mapserv?map=/srv/{t}/{w}.map",
        "/cgi-bin/mapserv.fcgi?map=/opt/maps/{w}{d}.map",
        "/geoserver/{t}/wms",
        "/geoserver/{w}{d}/ows",
        "/arcgis/services/{w}/MapServer/WMSServer",
        "/cgi-bin/qgis_mapserv.fcgi?map=/home/gis/{w}.qgz",
        "/thredds/wms/{t}/{w}_{d}.nc",
        "/{w}/wms",
        "/mapproxy/{w}/service",
        "/deegree-webservices/services/{w}",
        "/{w}_wms.aspx",
        "/wms/{d}",
        "/ogc/{w}/v{d}",
        "/dienste/{w}",
        "/service/{t}-{d}",
        "/gisdata/{w}.ashx",
        "/api/map/{w}",
        "/ows?theme={w}",
        "/public/view.cgi?set={w}{d}",
    ),
    "wfs": ("/geoserver/{t}/wfs", "/{w}/wfs", "/cgi-bin/mapserv?map=/srv/features/{w}.map"),
    "wmts": ("/geoserver/gwc/{w}/wmts", "/tiles/{w}/1.0.0", "/{w}/wmts"),
    "wcs": ("/geoserver/{t}/wcs", "/thredds/wcs/{w}_{d}.nc", "/{w}/wcs"),
    "csw": ("/geonetwork/srv/eng/csw-{w}", "/{w}/csw", "/pycsw/{w}"),
    "arcgis": ("/arcgis/rest/services/{w}/MapServer", "/server/rest/services/{t}/{w}/MapServer"),
    "ogcapi": ("/ogc/features/{w}/", "/pygeoapi-{w}/", "/{w}/oapi"),
    "stac": ("/stac/{w}/", "/{w}/stac/v1"),
}
OTHER_KINDS = {"wfs": 6, "wmts": 5, "arcgis": 5, "ogcapi": 4, "wcs": 3, "csw": 2, "stac": 1}
"""Weight of each kind but WMS."""
_VARIANTS = ("content-type", "bom", "no-declaration")


class Services:
    """Makes the services of a web, no two at one address."""

    def __init__(self, rng: random.Random, mixture: Mixture, web: Web) -> None:
        self._lot = rng
        self._mixture = mixture
        self._web = web
        self._bases: set[str] = set()
        self._hosts: dict[str, tuple[str, ...]] = {}
        self._forms = {kind: tuple(self._some(forms)) for kind, forms in _PLACES.items()}

    def _some(self, forms: Sequence[str]) -> list[str]:
        """Return the forms of address that occur in this web."""
        return self._lot.sample(forms, max(2, len(forms) * 3 // 5))

    def make(self, site: Site, kind: str = "wms") -> Service:
        """Return a new service of a site."""
        rng = self._lot
        behaviour = self._mixture.behaviour(rng)
        if kind != "wms" and behaviour in ("slow", "lenient", "garbage"):
            behaviour = "valid"
        base = self._base(site, kind)
        place, _, query = base.partition("?")
        service = Service(
            id=f"{kind}-{len(self._web.services) + 1:05}",
            kind=kind,
            base=base,
            title=self._title(site),
            site=site,
            behaviour=behaviour,
            requires=dict([query.split("=", 1)]) if query else {},
            variant=rng.choice(_VARIANTS) if behaviour == "lenient" else "",
        )
        if place.endswith("/wms") and rng.random() < 0.15:
            service.aliases = (self._free(place.removesuffix("/wms") + "/wms-ows"),)
        self._web.services.append(service)
        return service

    def other_kind(self) -> str:
        """Return a kind that is not WMS."""
        return self._lot.choices(list(OTHER_KINDS), list(OTHER_KINDS.values()))[0]

    def _title(self, site: Site) -> str:
        title, where = self._lot.choice(site.words.titles), self._lot.choice(site.names.places)
        return f"{title} {where}" if site.language.spaced else f"{where}{title}"

    def _base(self, site: Site, kind: str) -> str:
        rng = self._lot
        for _ in range(50):
            form = rng.choice(self._forms[kind])
            path = form.format(w=_slug(rng), t=site.theme.name, d=rng.randint(1, 40))
            base = f"http://{self._host(site)}{path}"
            if base not in self._bases and not self._web.has(base):
                break
        return self._free(base)

    def _free(self, base: str) -> str:
        while base in self._bases:
            base += "x"
        self._bases.add(base)
        return base

    def _host(self, site: Site) -> str:
        """Return the site's own host or a sister host."""
        rng = self._lot
        if site.host not in self._hosts:
            domain = site.host.removeprefix("www.")
            names = [name.format(d=rng.randint(1, 9)) for name in rng.sample(_SUB_HOSTS, rng.randint(1, 3))]
            hosts = [f"{name}.{domain}" for name in names]
            if rng.random() < 0.15:
                hosts.append(f"{domain}:8080")
            own = [site.host] if rng.random() >= self._mixture.elsewhere else []
            self._hosts[site.host] = tuple(own + hosts)
        return rng.choice(self._hosts[site.host])


def _slug(rng: random.Random) -> str:
    """Return a meaningless word for an address: a host's addresses must not reveal the kinds of its services."""
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))


_SPELLINGS = (
    "SERVICE={K}&REQUEST=GetCapabilities",
    "service={K}&version={v}&request=GetCapabilities",
    "REQUEST=GetCapabilities&SERVICE={K}&VERSION={v}",
    "request=getcapabilities&service={k}",
    "VERSION={v}&REQUEST=GetCapabilities&SERVICE={K}&",
    "Service={K}&Request=GetCapabilities",
    "service={k}&acceptversions={v}&request=GetCapabilities",
    "request=GetCapabilities&service={K}&version={v}&FORMAT=text%2Fxml",
)
_VERSIONS = {
    "wms": ("1.1.1", "1.3.0", "1.1.0"),
    "wfs": ("2.0.0",),
    "wmts": ("1.0.0",),
    "wcs": ("2.0.1",),
    "csw": ("2.0.2",),
}


def capabilities_request(service: Service, rng: random.Random) -> str:
    """Return the address of a GetCapabilities request in one of many spellings, or of a REST service's JSON."""
    if service.kind not in _VERSIONS:
        return with_query(service.base, "f=json") if service.kind == "arcgis" else service.base
    spelling = rng.choice(_SPELLINGS).format(
        K=service.kind.upper(), k=service.kind, v=rng.choice(_VERSIONS[service.kind])
    )
    if rng.random() < 0.1:
        return with_query(service.base, "&" + spelling)
    return with_query(service.base, spelling)


def map_request(service: Service, layer: str, rng: random.Random) -> str:
    """Return the address of a GetMap request for one layer."""
    west, south = rng.randint(-100, 100), rng.randint(-50, 50)
    size = rng.choice((256, 400, 512))
    query = (
        f"LAYERS={layer}&STYLES=&SRS=EPSG:4326&BBOX={west},{south},{west + 5},{south + 5}&WIDTH={size}&HEIGHT={size}"
        "&FORMAT=image/png"
    )
    head = rng.choice(
        ("SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&", "REQUEST=GetMap&VERSION=1.1.1&", "service=WMS&request=GetMap&")
    )
    return with_query(service.base, head + query)


def with_query(base: str, query: str) -> str:
    """Return `base` with the parameters of `query` appended."""
    return f"{base}{'&' if '?' in base else '?'}{query}"
