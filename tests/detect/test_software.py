"""Software is recognised by addresses and by pages, and says where its services are; ordinary pages say nothing."""

from __future__ import annotations

import csv
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from geocrawl.detect import Detector
from geocrawl.detect.software import all_software, portal_of, portal_of_page
from geocrawl.model import Candidate, Link
from geocrawl.probe.registry import declarations
from geocrawl.urls import read_url
from tests.support.pages import page, url

DETECTOR = Detector(declarations())
EXAMPLES = [
    *((form.example, each.key) for each in all_software() for form in each.paths),
    *((form.example, each.key) for each in all_software() for form in each.hosts),
]


def places(address: str) -> list[str]:
    """What is asked beneath the portal of an address, each with its kind."""
    portal = portal_of(url(address))
    guesses = portal.guesses() if portal is not None else ()
    return [
        f"page {each.url.address}" if isinstance(each, Link) else f"{each.endpoint.kind} {each.endpoint.url.address}"
        for each in guesses
    ]


@pytest.mark.parametrize(("address", "key"), EXAMPLES)
def test_each_form_is_recognised_by_its_example(address: str, key: str) -> None:
    portal = portal_of(url(address))
    assert portal is not None and portal.software.key == key


def test_no_software_has_more_than_three_guesses_and_all_have_documentation() -> None:
    assert all(len(each.places) <= 3 for each in all_software())
    assert all(each.places for each in all_software() if each.page and each.key != "qgisserver"), (
        "it names itself a WMS"
    )
    table = tomllib.loads(resources.files("geocrawl").joinpath("data/software.toml").read_text("utf-8"))
    assert all(each["source"].startswith("https://") for each in table.values())


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://m.example:8080/geoserver/web/?wicket:page=1", ["wms http://m.example:8080/geoserver/ows"]),
        ("https://m.example/x/GeoServer", ["wms https://m.example/x/GeoServer/ows"]),
        ("https://m.example/gs/web/", ["wms https://m.example/gs/ows"]),
        (
            "https://town.hub.arcgis.com/",
            [
                "ogcapi https://town.hub.arcgis.com/api/search/v1",
                "page https://town.hub.arcgis.com/api/feed/dcat-us/1.1.json",
            ],
        ),
        (
            "https://geonode.m.example/",
            [
                "wms https://geonode.m.example/geoserver/ows",
                "csw https://geonode.m.example/catalogue/csw",
                "page https://geonode.m.example/api/v2/datasets?page_size=100&page=1",
            ],
        ),
        ("https://m.example/geonetwork/srv/ger/catalog.search#/home", ["csw https://m.example/geonetwork/srv/eng/csw"]),
        ("https://town.lizmap.com/carto/", None),
        ("https://m.example/arcgis/services", ["arcgis https://m.example/arcgis/rest/services"]),
        ("https://m.example/erdas-apollo", ["wms https://m.example/erdas-iws/ogc/wms/"]),
        ("https://m.example/ncWMS2/", ["wms https://m.example/ncWMS2/wms"]),
        ("https://m.example/en/services", []),
        ("https://nanohub.example/", []),
        ("https://geology.town.gov/", []),
        ("https://gis.town.gov/jobs", []),
        ("https://m.example/products/camera/metadata", []),
        ("https://m.example/docs/geoserver/", []),
        ("https://blog.geoserver.org/geoserver/", []),
    ],
)
def test_an_address_leads_to_the_places_of_its_software(address: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = [
            "wms https://town.lizmap.com/carto/index.php/lizmap/service",
            "page https://town.lizmap.com/carto/index.php/view/",
        ]
    assert places(address) == expected


HOMES = {
    "arcgishub": '<link rel="icon" href="https://hubcdn.arcgis.com/opendata-ui/a.ico"><title>Town data</title>',
    "geonetwork": '<html data-ng-app="gn_search_default"><body data-ng-controller="GnCatController">',
    "geonode": '<link href="/static/geonode/css/base.css" rel="stylesheet"><title>Maps of the town</title>',
    "gvsigonline": '<script src="/static/gvsigol_core/js/app.js"></script>',
    "mapstore": '<div class="_ms2_init_spinner _ms2_init_center"></div>',
    "getsdi": "<title>GET SDI Portal v.4.0</title>",
    "geoserver": '<link href="./wicket/resource/org.geoserver.web.GeoServerBasePage/css/geoserver.css">',
    "lizmap": '<ul class="liz-repository-project-list" data-lizmap-repository="town"><li>Roads',
    "geomapfish": '<script src="dynamic.js?interface=desktop"></script><body ng-class="{}">',
    "mapproxy": "<html><head><title>MapProxy WMS Demo</title>",
    "ncwms": "<title>ncWMS2 server</title>",
    "esrigeoportal": '<title>Data of the town</title><div id="app-loading-node" class="g-app-loading">',
    "pycsw": '<footer class="sticky">Powered by <a title="pycsw" href="https://pycsw.org"><img></a> 3.0</footer>',
    "ckan": '<meta name="generator" content="ckan 2.10.4" />',
    "thredds": "<h1>THREDDS Data Server</h1>",
    "erddap": "<title>ERDDAP - Home</title>",
    "pygeoapi": '<meta name="generator" content="pygeoapi 0.21">',
    "mapserver": "<title>MapServer Message</title></head><!-- MapServer version 8.0.0 OUTPUT=PNG -->",
}


@pytest.mark.parametrize("key", HOMES)
def test_a_home_page_at_an_address_of_its_own_is_recognised_by_its_markup(key: str) -> None:
    home = page(HOMES[key], address="https://www.example.org/")
    portal = portal_of_page(home)
    assert portal is not None and portal.software.key == key
    assert portal_of_page(page(HOMES[key], "text/plain")) is None, "a text that shows the markup is no such page"
    guesses = DETECTOR.guesses(home)
    assert guesses
    for each in guesses:
        place = each.url if isinstance(each, Link) else each.endpoint.url
        assert place.host == "www.example.org"
        assert not isinstance(each, Candidate) or each.evidence.signal == f"guess:{key}"


REBUILT = {
    "geonode": (
        """<head><link href="/static/lib/css/assets.min.css?v=3.3.2" rel="stylesheet"/>
<link href="/static/geonode/css/base.css?v=3.3.2" rel="stylesheet"/></head><body class="home">""",
        """<link rel="stylesheet" href="/static/mapstore/dist/themes/geonode.css?v=4.2"><div id="gn-topbar"></div>
<script>window.__GEONODE_CONFIG__ = getConfig();</script><script src="/static/mapstore/dist/js/gn-home.js"></script>""",
        """<title>Mapas de la ciudad</title><footer>Hecho con <a href="http://geonode.org">GeoNode</a> 2.10</footer>""",
    ),
    "geoserver": (
        """<title>GeoServer: Welcome</title><link rel="stylesheet" type="text/css"
href="./wicket/resource/org.geoserver.web.GeoServerBasePage/css/geoserver-ver-1.css"/>""",
        """<title>GeoServer: Willkommen</title><div id="header"><a href="./"><span>GeoServer</span></a></div>""",
        """<h1>Maps of the town</h1><script src="../resource/org.apache.wicket.Resource/jquery.js"></script>
<img src="wicket/resource/org.geoserver.web.X/logo.png">""",
    ),
    "arcgishub": (
        """<meta name="opendata-ui/config/environment" content="%7B%7D"><script
src="https://hubcdn.arcgis.com/opendata-ui/assets/vendor-1.js"></script>""",
        """<title>Open Data</title><link rel="preload" href="https://hubcdn.arcgis.com/opendata-ui/assets/chunk.9.css">""",
        """<script>window.__SITE="%7B%22site%22%3A%7B%7D%7D"</script><script
src="/opendata-ui/assets/opendata-ui-0.js"></script>""",
    ),
    "lizmap": (
        """<title>Projets</title><div id="landingPageContent"></div>
<ul class="thumbnails liz-repository-project-list">""",
        """<div id="search"><div class="input-group"><button id="toggle-search"></button><div
id="search-project-keywords"></div></div></div><p>Lizmap""",
        """<a class="liz-project-view" href="/index.php/view/map?repository=town&amp;project=roads">Roads</a>""",
    ),
    "mapstore": (
        """<div id="container"><div class="_ms2_init_spinner _ms2_init_center"><div></div></div></div>""",
        """<link rel="shortcut icon" href="product/assets/img/favicon.ico"/>
<script src="dist/mapstore2.js?1"></script>""",
        """<style>._ms2_init_text { font-size: 40px }</style><div class="_ms2_init_text">Lade Karten</div>""",
    ),
    "geonetwork": (
        """<html ng-app="gn_search_default"><script src="/static/gn_search_default.js"></script>""",
        """<html lang="fr"><body data-ng-controller="GnCatController"><div data-gn-toolbar=""></div>""",
        """<link href="/srv/eng/portal.opensearch" rel="search" type="application/opensearchdescription+xml"
title="Catálogo"/><body><a href="/srv/eng/main.home">Inicio</a>""",
    ),
    "thredds": (
        """<link rel='stylesheet' href='/thredds/tdsCat.css' type='text/css'><title>Catalog</title><h1>Catalog</h1>""",
        """<h3>Ocean <a href="#">THREDDS Data Server</a> [Version 4.6.14]</h3>""",
        """<title>THREDDS Catalog of the institute</title><div id="footer">Ozeandaten</div>""",
    ),
    "mapproxy": (
        """<html><body><h1>Welcome to MapProxy 1.13.0</h1><ul><li><a href="/demo/">demo</a>""",
        """<title>MapProxy demo</title><link rel="stylesheet" href="static/site.css"/>""",
        """<title>MapProxy</title><h2>Unsere Karten</h2>""",
    ),
    "erddap": (
        """<title>ERDDAP - Home Page</title><div class="standard_width">""",
        """<p>Datos del mar<hr>ERDDAP, Version 2.23<br><a href="/erddap/legal.html">Disclaimers</a>""",
        """<title>ERDDAP du laboratoire</title><a href="erddap/griddap/index.html">griddap</a>""",
    ),
    "pygeoapi": (
        """<meta name="generator" content="pygeoapi 0.15.0"/><title>Features</title>""",
        """<footer>Powered by <a href="https://pygeoapi.io/">pygeoapi</a> 0.10</footer>""",
        """<footer><img src="/static/img/pygeoapi-logo.png" alt="Daten"/></footer>""",
    ),
    "pycsw": (
        """<title>pycsw Geospatial Catalogue</title>""",
        """<footer>Powered by <a title="pycsw" href="https://pycsw.org"><img src="/static/logo.png"/></a></footer>""",
        """<!-- pycsw 3.0 --><h1>Catalogue</h1>""",
    ),
    "esrigeoportal": (
        """<div id="app-loading-node" class="g-app-loading"></div><script>require(["app/main"])</script>""",
        """<title>Geodatenkatalog</title><script>require(["app/context/AppStarter"], function(a) {})</script>""",
        """<title>Esri Geoportal Server - Inicio</title><form id="frmSearch" action="/catalog/search/search.page">""",
    ),
    "ncwms": (
        """<title>ncWMS2 server</title><a href="Godiva3.html">Godiva3</a>""",
        """<title>Godiva3</title><div id="mainPanel"></div>""",
        """<title>Karten des Meeres</title><script src="godiva3/godiva3.nocache.js"></script>""",
    ),
    "geomapfish": (
        """<html ng-app="Appmobile"><script src="dynamic.js?interface=mobile"></script>""",
        """<body><gmf-map class="gmf-map" gmf-map-map="::mainCtrl.map"></gmf-map>""",
        """<title>GeoMapFish</title><main class="gmf-main"></main>""",
    ),
    "dkan": (
        """<meta name="Generator" content="Drupal 7 (http://drupal.org) + DKAN (https://getdkan.org)"/>""",
        """<link href="/profiles/dkan/themes/contrib/nuboot_radix/assets/css/nuboot.css" rel="stylesheet">""",
        """<title>Datos abiertos</title><script src="/modules/contrib/dkan/modules/metastore/app.js"></script>""",
    ),
    "ckan": (
        """<meta name="generator" content="ckan 2.9.5"/><title>Welcome</title>""",
        """<title>Dati aperti</title><link href="/webassets/base/4f3188fa_main.css" rel="stylesheet"/>""",
        """<link rel="stylesheet" href="/fanstatic/vendor/:version:2020-03-19T12:00:00:/select2/select2.css"/>
<title>オープンデータ</title>""",
    ),
}
"""Three homes a family, written after what its versions and themes ship."""


@pytest.mark.parametrize(("key", "home"), [(key, home) for key, homes in REBUILT.items() for home in homes])
def test_homes_of_several_versions_and_themes_are_recognised_by_their_markup(key: str, home: str) -> None:
    portal = portal_of_page(page(home, address="https://www.example.org/"))
    assert portal is not None and portal.software.key == key
    assert DETECTOR.guesses(page(home, address="https://www.example.org/"))


def test_what_precedes_the_root_of_an_xml_document_is_a_sign_but_nothing_within() -> None:
    said = portal_of_page(page('<?xml version="1.0"?>\n<!-- pycsw 2.6.2 -->\n<Capabilities/>', "application/xml"))
    assert said is not None and said.software.key == "pycsw"
    assert portal_of_page(page('<?xml version="1.0"?><a><!-- pycsw 2.6.2 --></a>', "application/xml")) is None


def test_a_program_at_an_address_of_its_own_is_asked_there() -> None:
    (guess,) = DETECTOR.guesses(page(HOMES["mapserver"], address="https://www.example.org/maps/town"))
    assert isinstance(guess, Candidate) and guess.endpoint.url.address == "https://www.example.org/maps/town"


def test_a_page_beneath_the_root_is_cut_off_it() -> None:
    portal = portal_of_page(page(HOMES["mapproxy"], address="https://www.example.org/tiles/demo/"))
    assert portal is not None and portal.root == "https://www.example.org/tiles"


def test_a_header_of_the_software_is_a_sign_as_well() -> None:
    portal = portal_of_page(page("<p>maps", set_cookie="gvsigol_session=1"))
    assert portal is not None and portal.software.key == "gvsigonline"


def test_the_folder_of_a_page_is_the_root_where_software_lives_in_one() -> None:
    portal = portal_of_page(page(HOMES["lizmap"], address="https://www.example.org/maps/"))
    assert portal is not None and portal.root == "https://www.example.org/maps"


@pytest.mark.parametrize(
    "body",
    [
        "<p>We publish with GeoServer, GeoNetwork, GeoNode, Lizmap, MapProxy, ncWMS, MapStore and ArcGIS Hub.",
        '<meta name="generator" content="WordPress 6.4"><p>How to install GeoServer',
        "<title>This domain is for sale</title>",
        "<title>MapProxy Quickstart — a live disc</title><p>Open the MapProxy demo in a browser",
        "<title>Rasdaman overview</title><p>petascope answers WCS",
        "<title>Release notes</title><p>The THREDDS Data Server and the ncWMS server are new",
        '<a href="https://images.example.com/erdas-iws/ogc/wms/?layers=a">WMS</a>',
        '<a href="https://www.example.com/geonetwork/srv/eng/catalog.search#/home">Records</a>',
    ],
)
def test_pages_about_software_and_parking_pages_lead_to_no_guess(body: str) -> None:
    assert DETECTOR.guesses(page(body)) == ()


@pytest.mark.parametrize(
    ("address", "files", "root"),
    [
        ("http://d.example/Data/dataset", "/data", "/Data"),
        ("http://d.example/data/", "http://d.example/data", "/data"),
        ("http://d.example/dataset/", "/data", ""),
        ("http://d.example/dataset/", "", ""),
        ("http://d.example/data/", "//cdn.example/data", ""),
    ],
)
def test_the_files_of_a_portal_say_beneath_which_path_it_is(address: str, files: str, root: str) -> None:
    home = f'<meta name="generator" content="ckan 2.11"><link href="{files}/webassets/base/main.css">'
    portal = portal_of_page(page(home, address=address))
    assert portal is not None and portal.root == f"http://d.example{root}"


@pytest.mark.parametrize(
    ("stated", "root"),
    [
        ("http://d.example/open/", "/open"),
        ("/open/", "/open"),
        ("http://d.example/", ""),
        ("http://e.example/open/", ""),
    ],
)
def test_a_ckan_without_a_generator_says_where_its_root_is(stated: str, root: str) -> None:
    home = f'<body data-site-root="{stated}" data-locale-root="http://d.example/open/de/"><p>Data</p>'
    portal = portal_of_page(page(home, address="http://d.example/open/de/group/water"))
    assert portal is not None and (portal.software.key, portal.root) == ("ckan", f"http://d.example{root}")


def test_a_path_is_a_sign_on_its_own_host_alone() -> None:
    for href in ("/erdas-iws/ogc/wms/", "https://www.example.org/erdas-iws/ogc/wms/", "../erdas-iws/"):
        links = f'<a href="https://a.example.com/erdas-iws/">other</a> <a href="{href}">WMS</a>'
        portal = portal_of_page(page(links, address="https://www.example.org/news"))
        assert portal is not None and portal.software.key == "erdasapollo"


def test_a_service_is_asked_by_its_own_address_and_leads_to_no_guess() -> None:
    assert DETECTOR.guesses(page("<p>", address="https://m.example/geoserver/wms")) == ()


@pytest.mark.shared
def test_of_a_hundred_ordinary_addresses_at_most_one_leads_to_a_guess(shared: Path) -> None:
    with (shared / "corpus" / "urls.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] == "other" and row["note"] == ""]
    urls = [found for row in rows if (found := read_url(row["url"])) is not None]
    guessed = [each for each in urls if portal_of(each) is not None and DETECTOR.of_url(each) is None]
    assert len(urls) > 5_000
    assert len(guessed) < 0.01 * len(urls), guessed
