"""Declare the signs of the kind SpatioTemporal Asset Catalog."""

from __future__ import annotations

from geocrawl.model.kinds import HostForm, Kind, KindDeclaration, PathForm
from geocrawl.probe.stac.documents import is_stac

KIND = KindDeclaration(
    kind=Kind.STAC,
    name="SpatioTemporal Asset Catalog",
    proof="a catalogue, a collection or the landing page of an API",
    items=("collection", "collections"),
    paths=(
        PathForm(
            name="STAC: a catalogue in a file",
            hint="catalog",
            path=r"/[^/]*catalog[^/]*\.json$",
            example="https://data.example.org/imagery/catalog.json",
        ),
        PathForm(
            name="STAC: a path or a file that names it",
            hint="stac",
            path=r"/(?:stac|[^/.]*[-_]stac|stac[-_][^/.]*)(?:/(?:api/?)?(?:v?[0-9][0-9.]*)?/?)?(?:/(?:search|collections(?:/[^/.]+){0,3}))?/?$|stac[^/]*\.json$|stac/(?:[^/]+/)*collection\.json$",
            example="https://data.example.org/ogc/stac/v1/",
        ),
        PathForm(
            name="STAC: one of several catalogues below a path that names it",
            hint="/stac/",
            path=r"/stac/[^/.]+/?$",
            example="https://data.example.org/stac/LPCLOUD",
        ),
    ),
    hosts=(
        HostForm(
            name="STAC",
            host="(?:^|[.-])stac(?:-[a-z]+)?[.-]",
            path="^/(?:api/?)?(?:v?[0-9][0-9.]*/?)?$",
            example="https://stac.example.org/v1/",
        ),
    ),
    keys=(frozenset({"stac_version", "links"}),),
    is_document=is_stac,
)
