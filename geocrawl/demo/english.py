"""Make the sites of Norvale that are about maps: geoportal, data catalogue, water agency, university."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.demo.pages import Site, Target

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


def geoportal() -> Site:
    """Make the regional geoportal: themes, data sets, lists of services, an internal area that robots.txt forbids."""
    navigation = [
        ("/", "Home"),
        ("/themes", "Themes"),
        ("/services", "Map services"),
        ("/help", "Help"),
        ("/news", "News"),
    ]
    site = Site("http://www.norvale-geoportal.example", "Geoportal Norvale", navigation)
    site.add(
        "/",
        "Spatial data infrastructure of Norvale",
        "The geoportal gives access to maps, spatial data and OGC web services (WMS, WFS) of the region.",
        "Browse the themes, look at the map viewer or take a web map service into your own GIS.",
        links=[
            ("http://www.norvale-catalogue.example/", "Open data catalogue"),
            ("http://www.water-agency.example/", "Water agency"),
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


def _geoportal_services(site: Site) -> None:
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


def _geoportal_themes(site: Site) -> None:
    themes = [(f"/themes/{_slug(theme)}", theme) for theme in _THEMES]
    site.add("/themes", "Themes", "Spatial data by theme.", links=themes)
    for path, theme in themes:
        sheets = [(f"{path}/{_slug(place)}", f"{theme}: sheet {place}") for place in _PLACES[:4]]
        extra = [(f"{_GEOSERVER}/hydro/wms?{_GETMAP}", "Map of the lakes")] if theme == "Hydrography" else []
        text = f"{theme} data of Norvale as layers, with metadata, legend and coverage."
        site.add(path, theme, text, links=[*sheets, *extra, (f"/download/{_slug(theme)}.zip", "Download (Shapefile)")])
        for sheet, title in sheets:
            site.add(sheet, title, f"Map sheet: {title}. Scale 1:25,000, coordinate system EPSG:4326.")


def catalogue() -> Site:
    """Make the open data catalogue: paged lists, in which most data sets are not about maps."""
    navigation = [("/", "Data catalogue"), ("/datasets?page=1", "Data sets"), ("/about", "About")]
    site = Site("http://www.norvale-catalogue.example", "Open Data Norvale", navigation, relevant=False)
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


def agency() -> Site:
    """Make the water agency, with MapServer and QGIS Server."""
    navigation = [("/", "Home"), ("/maps", "Maps"), ("/levels", "Water levels"), ("/contact", "Contact")]
    site = Site("http://www.water-agency.example", "Water Agency of Norvale", navigation)
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


def university() -> Site:
    """Make the university: few pages are about maps, and the GIS laboratory lies deep in the site."""
    faculties = ("Law", "Medicine", "Music", "Economics", "Geography", "Physics", "History")
    navigation = [("/", "University"), ("/faculties", "Faculties"), ("/study", "Study")]
    site = Site("http://www.uni-norvale.example", "University of Norvale", navigation, relevant=False)
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
