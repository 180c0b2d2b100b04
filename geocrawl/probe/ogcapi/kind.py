"""Declare the signs of the kind OGC API."""

from __future__ import annotations

from geocrawl.model.kinds import HostForm, Kind, KindDeclaration, PathForm
from geocrawl.probe.ogcapi.documents import is_ogcapi

KIND = KindDeclaration(
    kind=Kind.OGCAPI,
    name="OGC API",
    proof="a landing page with its conformance or collections (Features, Tiles, Maps, Records …)",
    items=("collection", "collections"),
    paths=(
        PathForm(
            name="OGC API: ArcGIS Hub's records",
            hint="/api/search/v1",
            path="/api/search/v1(?:/collections(?:/.*)?)?/?$",
            example="https://hub.example.org/api/search/v1",
        ),
        PathForm(
            name="OGC API: a path that names it (pygeoapi, ldproxy, MapServer, GeoServer, QGIS Server, CubeWerx)",
            hint="api",
            path="/(?:ogc-?api|oapi|oapif|pygeoapi|ogc/api|ogc-api)(?:/[^/.]+){0,2}/?$|/(?:ogc-?api|oapi|oapif|pygeoapi|ogc/api|ogc-api)(?:/[^/]+){0,3}/(?:collections|conformance|processes)(?:/|$)",
            example="https://data.example.org/ogcapi/buildings/collections/houses/items",
        ),
        PathForm(
            name="OGC API by GeoServer and ldproxy",
            hint="/ogc/",
            path="/ogc/(?:features|maps|tiles|coverages|records|processes)(?:/v1)?(?:/(?:collections|conformance|processes)(?:/.*)?)?/?$",
            example="https://data.example.org/geoserver/ogc/features/v1/collections",
        ),
        PathForm(
            name="OGC API Features by QGIS Server",
            hint="/wfs3",
            path="/wfs3(?:/(?:collections|conformance)(?:/.*)?)?/?$",
            example="https://data.example.org/cgi-bin/qgis_mapserv.fcgi/wfs3/collections",
        ),
        PathForm(
            name="OGC API: the items of a collection",
            hint="/collections/",
            path="/collections/[^/]+/(?:items|tiles|map|coverage|queryables|position|cube)(?:/.*)?$",
            example="https://data.example.org/collections/houses/items",
        ),
        PathForm(
            name="OGC API: its collections, asked for as JSON",
            hint="/collections",
            path="/collections/?$",
            query="f=json",
            example="https://data.example.org/collections?f=json",
        ),
    ),
    hosts=(
        HostForm(
            name="OGC API",
            host="(?:^|[.-])(?:ogc-?api|oapi)[.-]",
            path="^/(?:api/?)?(?:v?[0-9][0-9.]*/?)?$",
            example="https://ogcapi.example.org/",
        ),
    ),
    keys=(frozenset({"conformsTo"}), frozenset({"collections", "links"})),
    relations=frozenset({"conformance", "http://www.opengis.net/def/rel/ogc/1.0/conformance"}),
    is_document=is_ogcapi,
)
