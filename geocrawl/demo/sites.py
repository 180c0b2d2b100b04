"""Make the sites of the demo web from templates, with the links of every page as truth: four about maps in English, a
Chinese one, a newspaper and a shop."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from urllib.parse import urljoin

from geocrawl.demo.kinds import OFFICES

Target = tuple[str, str]
"""(href, text) of a link."""

_SHELL = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="{charset}">
<title>{title} - {site}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><h1>{site}</h1><nav><ul>{navigation}</ul></nav></header>
<main>
<h2>{title}</h2>
{paragraphs}
{extra}
<ul>
{links}
</ul>
</main>
<footer><p>{site}</p></footer>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One page, or a redirect."""

    address: str
    body: bytes
    links: tuple[str, ...] = ()
    """Absolute addresses of all links of the page, as written; the target of a redirect."""
    content_type: str = "text/html"
    status: int = 200
    relevant: bool = False
    """Whether the page is about maps and geographic data."""


class SiteBuilder:
    """A builder of the pages of one host."""

    def __init__(
        self, origin: str, name: str, navigation: Iterable[Target], *, language: str = "en", relevant: bool = True
    ) -> None:
        self.origin = origin
        self.pages: list[DemoPage] = []
        self._name = name
        self._navigation = tuple(navigation)
        self._language = language
        self._relevant = relevant

    def add(
        self,
        path: str,
        title: str,
        *paragraphs: str,
        links: Iterable[Target] = (),
        form: tuple[str, tuple[tuple[str, str], ...]] | None = None,
        charset: str = "utf-8",
        label: str = "",
        relevant: bool | None = None,
    ) -> None:
        """Add a page. `label` is the declared charset if it is not the true one; `form` is (action, hidden fields)."""
        listed = tuple(links)
        html = _SHELL.format(
            language=self._language,
            charset=label or charset,
            title=escape(title),
            site=escape(self._name),
            navigation=_items(self._navigation),
            paragraphs="\n".join(f"<p>{escape(text)}</p>" for text in paragraphs),
            extra=_form(form) if form else "",
            links=_items(listed),
        )
        address = self.origin + path
        targets = [urljoin(address, href) for href, _ in (*self._navigation, *listed)]
        if form:
            targets.append(urljoin(address, form[0]) + "?" + "&".join(f"{name}={value}" for name, value in form[1]))
        # A page that claims its charset in <meta> alone: the header names none.
        content_type = "text/html" if label else f"text/html; charset={charset}"
        about_maps = self._relevant if relevant is None else relevant
        self.pages.append(DemoPage(address, html.encode(charset), tuple(targets), content_type, relevant=about_maps))

    def redirect(self, path: str, target: str, status: int = 301) -> None:
        """Add a redirect."""
        self.pages.append(DemoPage(self.origin + path, b"", (urljoin(self.origin + path, target),), status=status))


def _items(targets: Iterable[Target]) -> str:
    return "\n".join(f'<li><a href="{escape(href)}">{escape(text)}</a></li>' for href, text in targets)


def _form(form: tuple[str, tuple[tuple[str, str], ...]]) -> str:
    action, hidden = form
    fields = "".join(f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in hidden)
    return f'<form action="{escape(action)}" method="get">{fields}<input type="submit" value="Capabilities"></form>'


# --------------------------------------------------------------------------- sites


_GEOSERVER = "http://maps.norvale-geoportal.example/geoserver"
_MAPSERVER = "http://maps.water-agency.example/cgi-bin"
_UNIVERSITY = "http://gis.uni-norvale.example"
_CAPABILITIES = "service=WMS&request=GetCapabilities"
_GETMAP = (
    "SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=lakes&STYLES=&SRS=EPSG:4326&BBOX=7.2,46.1,9.4,47.8"
    "&WIDTH=256&HEIGHT=256&FORMAT=image/png"
)
_THEMES = ("Hydrography", "Transport", "Land cover", "Elevation", "Geology", "Boundaries", "Soil", "Forests")
_PLACES = ("Arden", "Birkholm", "Carrow", "Dunmere", "Eastfold", "Fenwick", "Glasston", "Harrowby")


def geoportal() -> SiteBuilder:
    """Make the regional geoportal: themes, data sets, lists of services, an internal area that robots.txt forbids."""
    navigation = [
        ("/", "Home"),
        ("/themes", "Themes"),
        ("/services", "Map services"),
        ("/help", "Help"),
        ("/news", "News"),
    ]
    site = SiteBuilder("http://www.norvale-geoportal.example", "Geoportal Norvale", navigation)
    site.add(
        "/",
        "Spatial data infrastructure of Norvale",
        "The geoportal gives access to maps, spatial data and OGC web services (WMS, WFS) of the region.",
        "Browse the themes, look at the map viewer or take a web map service into your own GIS.",
        links=[
            ("http://www.norvale-catalogue.example/", "Open data catalogue"),
            ("http://www.water-agency.example/", "Water agency"),
            ("http://www.meridian-network.example/", "Meridian, the network of mapping offices"),
            ("http://www.norvale-courier.example/", "Norvale Courier, the newspaper"),
            ("http://www.uni-norvale.example/", "University of Norvale"),
            ("/old-services", "Map services (old page)"),
            ("/internal/", "Internal area"),
            ("/missing-page", "Map of the month"),
        ],
    )
    site.redirect("/old-services", "/services")
    _geoportal_services(site)
    _geoportal_themes(site)
    help_pages = [
        (f"/help/{topic}", f"How to use a WMS in {topic.upper()}") for topic in ("qgis", "arcgis", "leaflet", "cad")
    ]
    site.add("/help", "Help", "How to use web map services in desktop software and web pages.", links=help_pages)
    for path, title in help_pages:
        site.add(path, title, "Add a new WMS connection, paste the GetCapabilities address and choose the layers.")
    news = [(f"/news/{year}", f"News of {year}") for year in range(2017, 2025)]
    site.add(
        "/news",
        "News",
        "What is new in the geoportal.",
        links=[*news, ("http://www.norvale-courier.example/calendar", "Events")],
    )
    for path, title in news:
        site.add(path, title, f"{title}: new orthophotos, updated layers, maintenance of the map services.")
    return site


def _geoportal_services(site: SiteBuilder) -> None:
    site.add(
        "/services",
        "Web map services",
        "OGC web map services (WMS) of Norvale. Copy the address into your GIS, or read the capabilities document.",
        links=[
            (f"{_GEOSERVER}/wms?{_CAPABILITIES}&version=1.3.0", "WMS base map, GetCapabilities"),
            (f"{_GEOSERVER}/ows", "All OGC services of the base map"),
            (f"{_GEOSERVER}/ows?service=WFS&request=GetCapabilities", "WFS base map"),
            (f"{_GEOSERVER}/cadastre/wms?{_CAPABILITIES}", "WMS cadastre (with password)"),
            (f"{_GEOSERVER}/archive/ows?{_CAPABILITIES}", "WMS archive"),
            ("/services/terrain", "WMS terrain"),
            ("http://secure.norvale-geoportal.example/wms?" + _CAPABILITIES, "WMS emergency maps"),
        ],
    )
    site.add(
        "/services/terrain",
        "WMS terrain",
        "Hillshade and contours as a web map service.",
        form=(f"{_GEOSERVER}/terrain/wms", (("service", "WMS"), ("request", "GetCapabilities"))),
    )
    site.add(
        "/internal/",
        "Internal area",
        "For the staff of the mapping office.",
        links=[("/internal/drafts", "Drafts"), (f"{_GEOSERVER}/draft/wms?{_CAPABILITIES}", "WMS drafts")],
    )
    site.add("/internal/drafts", "Drafts", "Draft zoning maps, not for the public.")


def _geoportal_themes(site: SiteBuilder) -> None:
    themes = [(f"/themes/{_slug(theme)}", theme) for theme in _THEMES]
    site.add("/themes", "Themes", "Spatial data by theme.", links=themes)
    for path, theme in themes:
        sheets = [(f"{path}/{_slug(place)}", f"{theme}: sheet {place}") for place in _PLACES[:4]]
        extra = [(f"{_GEOSERVER}/hydro/wms?{_GETMAP}", "Map of the lakes")] if theme == "Hydrography" else []
        text = f"{theme} data of Norvale as layers, with metadata, legend and coverage."
        site.add(path, theme, text, links=[*sheets, *extra, (f"/download/{_slug(theme)}.zip", "Download (Shapefile)")])
        for sheet, title in sheets:
            site.add(sheet, title, f"Map sheet: {title}. Scale 1:25,000, coordinate system EPSG:4326.")


def catalogue() -> SiteBuilder:
    """Make the open data catalogue: paged lists, in which most data sets are not about maps."""
    navigation = [("/", "Data catalogue"), ("/datasets?page=1", "Data sets"), ("/about", "About")]
    site = SiteBuilder("http://www.norvale-catalogue.example", "Open Data Norvale", navigation, relevant=False)
    site.add("/", "Open data of Norvale", "Statistics, registers and maps of the region, free to use.")
    site.add("/about", "About open data", "Why data is open, and under which licence.")
    datasets = list(_datasets())
    pages = [datasets[start : start + 8] for start in range(0, len(datasets), 8)]
    for number, page in enumerate(pages, 1):
        links = [(f"/dataset/{_slug(name)}", name) for name, _ in page]
        turns = [(f"/datasets?page={other}", f"Page {other}") for other in (number - 1, number + 1)]
        kept = [turn for turn, other in zip(turns, (number - 1, number + 1), strict=True) if 1 <= other <= len(pages)]
        site.add(
            f"/datasets?page={number}", f"Data sets, page {number}", "All data sets by name.", links=[*links, *kept]
        )
    for name, links in datasets:
        about = f"Data set {name}. Publisher: Norvale statistics office. Formats: CSV"
        about += ", WMS (web map service)." if links else "."
        downloads = [(f"/files/{_slug(name)}.csv.zip", "CSV")]
        site.add(f"/dataset/{_slug(name)}", name, about, links=[*links, *downloads], relevant=bool(links))
    return site


def _datasets() -> Iterator[tuple[str, list[Target]]]:
    """Return (name, links to services) of the data sets, by name."""
    base = "http://data.norvale-catalogue.example"
    with_service: dict[str, list[Target]] = {
        "Parcels": [(f"{base}/arcgis/services/Parcels/MapServer/WMSServer", "WMS of the parcels")],
        "Railways": [
            (
                f"{base}/arcgis/services/Transport/MapServer/WMSServer?request=GetCapabilities&service=WMS",
                "WMS transport",
            )
        ],
        "Forest stands": [(f"{base}/arcgis/services/Forest/MapServer/WMSServer?{_CAPABILITIES}", "WMS forest")],
        "Land cover": [(f"{base}/wms/landcover?{_CAPABILITIES}", "WMS land cover")],
        "Population grid": [
            (f"{base}/wms/population?REQUEST=GetCapabilities&SERVICE=WMS&VERSION=1.3.0", "WMS population")
        ],
    }
    topics = ("Births", "Budget", "Schools", "Traffic accidents", "Tourism", "Libraries", "Waste", "Elections")
    names = [*with_service, *(f"{topic} {year}" for topic in topics for year in (2020, 2021, 2022))]
    for name in sorted(names):
        yield name, with_service.get(name, [])


def agency() -> SiteBuilder:
    """Make the water agency, with MapServer and QGIS Server."""
    navigation = [("/", "Home"), ("/maps", "Maps"), ("/levels", "Water levels"), ("/contact", "Contact")]
    site = SiteBuilder("http://www.water-agency.example", "Water Agency of Norvale", navigation)
    site.add("/", "Water in Norvale", "Rivers, lakes, floods and groundwater of the region: data, maps and services.")
    site.add("/contact", "Contact", "Write to the water agency.", relevant=False)
    site.add(
        "/levels", "Water levels", "Levels today.", links=[(f"/levels/{_slug(p)}", p) for p in _PLACES], relevant=False
    )
    for place in _PLACES:
        site.add(f"/levels/{_slug(place)}", f"Gauge {place}", f"Level at {place}: normal.", relevant=False)
    mapserv = f"{_MAPSERVER}/mapserv?map=/srv/maps"
    site.add(
        "/maps",
        "Maps and map services",
        "All our maps are web map services (WMS 1.1.1 and 1.3.0) of MapServer and QGIS Server.",
        links=[
            (f"{mapserv}/rivers.map&{_CAPABILITIES}&version=1.1.1", "Rivers, WMS capabilities"),
            (f"{mapserv}/gauges.map&", "Gauges, WMS address"),
            (f"{mapserv}/soil.map&{_CAPABILITIES}", "Soil moisture, WMS"),
            (f"{mapserv}/closed.map&{_CAPABILITIES}", "Closed map, WMS"),
            (f"{_MAPSERVER}/qgis_mapserv.fcgi?MAP=/srv/qgis/dams.qgs&{_CAPABILITIES}", "Dams and weirs, WMS"),
            (f"{_MAPSERVER}/mapserv.exe?map=/srv/maps/quality.map&{_CAPABILITIES}", "Water quality, WMS"),
            ("/maps/floods", "Flood hazard maps"),
            ("http://www.uni-norvale.example/", "University of Norvale, hydrology"),
        ],
    )
    hidden = (("map", "/srv/maps/floods.map"), ("SERVICE", "WMS"), ("REQUEST", "GetCapabilities"))
    site.add("/maps/floods", "Flood hazard maps", "WMS of flood hazard.", form=(f"{_MAPSERVER}/mapserv", hidden))
    return site


def network() -> SiteBuilder:
    """Make the network of mapping offices: a page a member, with its services of all other kinds."""
    site = SiteBuilder("http://www.meridian-network.example", "Meridian Network", [("/", "Members")])
    members = [(f"/members/{office.host.split('.')[1]}", office) for office in OFFICES]
    site.add(
        "/",
        "Mapping offices of six countries",
        "Members of the network share their maps, features, coverages and sensors by OGC web services.",
        links=[(path, office.name) for path, office in members],
    )
    for path, office in members:
        services = [(service.link(office), f"{service.kind.upper()}: {service.title}") for service in office.services]
        site.add(path, office.name, f"Web services of the {office.name}.", links=services)
    return site


def university() -> SiteBuilder:
    """Make the university: few pages are about maps, and the GIS laboratory lies deep in the site."""
    faculties = ("Law", "Medicine", "Music", "Economics", "Geography", "Physics", "History")
    navigation = [("/", "University"), ("/faculties", "Faculties"), ("/study", "Study")]
    site = SiteBuilder("http://www.uni-norvale.example", "University of Norvale", navigation, relevant=False)
    site.add("/", "University of Norvale", "Teaching and research since 1821.")
    site.add(
        "/study", "Study", "Application, fees, housing.", links=[("/study/housing", "Housing"), ("/study/fees", "Fees")]
    )
    site.add("/study/housing", "Housing", "Rooms for students.")
    site.add("/study/fees", "Fees", "There are no fees.")
    site.add("/faculties", "Faculties", "Our faculties.", links=[(f"/{_slug(name)}", name) for name in faculties])
    for name in faculties:
        links = [(f"/{_slug(name)}/staff", "Staff"), (f"/{_slug(name)}/courses", "Courses")]
        links += [("/geography/gis-lab", "GIS laboratory")] if name == "Geography" else []
        site.add(f"/{_slug(name)}", f"Faculty of {name}", f"Research and teaching in {name.lower()}.", links=links)
        site.add(f"/{_slug(name)}/staff", f"Staff of {name}", "Professors and assistants.")
        site.add(f"/{_slug(name)}/courses", f"Courses of {name}", "Lectures and seminars of this term.")
    site.add(
        "/geography/gis-lab",
        "GIS laboratory",
        "Web map services of our projects: aerial photographs, elevation, glaciers. WMS for every GIS.",
        links=[
            (f"{_UNIVERSITY}/mapproxy/service", "Aerial photographs (WMS)"),
            (f"{_UNIVERSITY}/cgi-bin/tilecache.cgi?{_CAPABILITIES}", "Tile cache (WMS-C)"),
            (f"{_UNIVERSITY}/elevation/wms?token=open-2024&{_CAPABILITIES}&", "Elevation model (WMS)"),
            ("/go/glaciers", "Glacier inventory (WMS)"),
            ("http://www.qingshan-map.example/", "Partner: 青山省地理信息公共服务平台"),
        ],
        relevant=True,
    )
    site.redirect("/go/glaciers", f"{_UNIVERSITY}/glacier/wms?{_CAPABILITIES}", 302)
    return site


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


_GIS = "http://gis.qingshan-map.example"
_CITIES = ("云溪市", "白沙市", "临江市", "石门市", "龙泉市", "安平市", "南湖市", "北岭市")
_QINGSHAN_THEMES = ("交通", "水系", "影像", "土地利用", "行政区划", "地名地址")
_QINGSHAN_REQUEST = "service=WMS&request=GetCapabilities"


def platform() -> SiteBuilder:
    """Make the platform: service lists, themes, cities, news, and a page of the old site."""
    navigation = [
        ("/", "首页"),
        ("/fuwu", "地图服务"),
        ("/zhuti", "专题"),
        ("/chengshi", "市县节点"),
        ("/xinwen", "新闻动态"),
    ]
    site = SiteBuilder("http://www.qingshan-map.example", "青山省地理信息公共服务平台", navigation, language="zh-CN")
    site.add(
        "/",
        "天地图·青山",
        "提供在线地图、影像服务、矢量服务、数据目录和元数据查询, 支持 OGC 标准的网络地图服务 (WMS)。",
        links=[("/old/index.htm", "旧版网站"), ("http://www.norvale-courier.example/world", "友情链接: 诺维尔新闻")],
    )
    _services(site)
    themes = [(f"/zhuti/{number}", f"{name}专题") for number, name in enumerate(_QINGSHAN_THEMES, 1)]
    site.add("/zhuti", "专题地图", "按专题浏览图层与空间数据。", links=themes)
    for path, title in themes:
        site.add(path, title, f"{title}: 图层说明、元数据、服务地址和接口文档。", links=[("/fuwu", "服务列表")])
    cities = [(f"/chengshi/{number}", name) for number, name in enumerate(_CITIES, 1)]
    site.add("/chengshi", "市县节点", "各市地理信息公共服务平台节点。", links=cities)
    for path, name in cities:
        site.add(path, f"{name}节点", f"{name}地理信息公共服务平台: 矢量地图、影像地图、地名查询。")
    news = [(f"/xinwen/{number}", f"平台动态第{number}期") for number in range(1, 11)]
    site.add("/xinwen", "新闻动态", "平台建设与应用新闻。", links=news)
    for path, title in news:
        site.add(path, title, "省自然资源厅召开会议, 部署年度工作。", relevant=False)
    return site


def _services(site: SiteBuilder) -> None:
    site.add(
        "/fuwu",
        "地图服务列表",
        "以下网络地图服务 (WMS) 可直接在 GIS 软件中调用, 点击查看能力文档。",
        links=[
            (f"{_GIS}:8090/iserver/services/map-roads/wms111/roads", "交通地图服务 (WMS 1.1.1)"),
            (f"{_GIS}:8090/iserver/services/map-water/wms130/water?{_QINGSHAN_REQUEST}", "水系地图服务能力文档"),
            (f"/ows/image?{_QINGSHAN_REQUEST}", "影像服务"),
            (f"{_GIS}/wms/boundary?{_QINGSHAN_REQUEST}", "行政区划服务"),
            (f"{_GIS}/geoserver/place/wms?{_QINGSHAN_REQUEST}", "地名地址服务"),
        ],
    )
    # As many older Chinese pages: GB18030 under the label gb2312, named in <meta> only; 镕 and 喆 are not in GB2312.
    site.add(
        "/old/index.htm",
        "地理信息服务 (旧版)",
        "本页由张喆、李镕维护。网络地图服务、图层与元数据。",
        links=[(f"{_GIS}:6163/igs/rest/ogc/doc/landuse/WMSServer?{_QINGSHAN_REQUEST}", "土地利用现状地图服务")],
        charset="gb18030",
        label="gb2312",
    )


CALENDAR_PATH = "/calendar"
_SECTIONS = ("world", "sport", "culture", "business")
_GOODS = ("Lantern", "Candle", "Wick", "Lamp oil", "Matches", "Paper shade", "Hook", "Glass chimney")
_NEWSPAPER = "http://www.norvale-courier.example"
_SHOP = "http://shop.lanternlane.example"


def newspaper() -> SiteBuilder:
    """Make a newspaper: sections with articles that link to each other, and a link to the calendar."""
    navigation = [("/", "Front page"), *((f"/{name}", name.title()) for name in _SECTIONS), (CALENDAR_PATH, "Calendar")]
    site = SiteBuilder(_NEWSPAPER, "The Norvale Courier", navigation, relevant=False)
    site.add("/", "The Norvale Courier", "News of the day.", links=[(f"{_SHOP}/", "Our advertisers: Lantern Lane")])
    for section in _SECTIONS:
        articles = [(f"/{section}/{number}.html", f"{section.title()} story {number}") for number in range(1, 7)]
        site.add(f"/{section}", section.title(), f"All about {section}.", links=articles)
        for number, (path, title) in enumerate(articles):
            text = f"{title}: the council met, the team won, the concert was long. Read more tomorrow."
            site.add(
                path, title, text, links=[articles[(number + 1) % 6], (f"/{section}/gone-{number}.html", "Yesterday")]
            )
    return site


def calendar_page(today: datetime.date, year: int | None, month: int | None) -> DemoPage:
    """Make a month of the endless calendar; without year and month the entry page, which shows this month."""
    shown = datetime.date(year or today.year, month or today.month, 1)
    months = [_add_months(shown, step) for step in (-1, 1)]
    links = [
        (f"{CALENDAR_PATH}?year={day.year}&month={day.month}", f"{day:%B %Y}") for day in months if day is not None
    ]
    query = f"?year={shown.year}&month={shown.month}" if year else ""
    site = SiteBuilder(_NEWSPAPER, "The Norvale Courier", [("/", "Front page")], relevant=False)
    site.add(CALENDAR_PATH + query, f"Calendar, {shown:%B %Y}", "No events this month.", links=links)
    return site.pages[0]


def _add_months(day: datetime.date, step: int) -> datetime.date | None:
    year, month = divmod(day.year * 12 + day.month - 1 + step, 12)
    return datetime.date(year, month + 1, 1) if 1 <= year <= 9999 else None


def shop() -> SiteBuilder:
    """Make a shop that adds a session id to every link, a new one on every page."""
    site = SiteBuilder(_SHOP, "Lantern Lane", [], relevant=False)

    def links(path: str) -> list[tuple[str, str]]:
        drawn = hashlib.sha256(path.encode()).hexdigest()[:24].upper()
        listed = [("/", "Shop"), ("/cart", "Cart"), *((f"/goods/{number}", name) for number, name in enumerate(_GOODS))]
        if path.startswith("/goods/"):
            listed.append((f"{path}/reviews", "Reviews"))
        return [(f"{href};jsessionid={drawn}", text) for href, text in listed]

    site.add("/", "Lantern Lane", "Lamps, lanterns and everything that glows.", links=links("/"))
    site.add("/cart", "Your cart", "Your cart is empty.", links=links("/cart"))
    for number, name in enumerate(_GOODS):
        path = f"/goods/{number}"
        site.add(path, name, f"{name}, hand made. Sent within two days.", links=links(path))
        site.add(
            f"{path}/reviews", f"Reviews of {name}", "Five stars, says everybody.", links=links(f"{path}/reviews")[:2]
        )
    return site
