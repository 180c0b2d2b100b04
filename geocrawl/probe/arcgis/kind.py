"""Declare the signs of the kind ArcGIS REST services."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm
from geocrawl.probe.arcgis.documents import is_arcgis

KIND = KindDeclaration(
    kind=Kind.ARCGIS,
    name="ArcGIS REST services",
    proof="the JSON of a folder, MapServer, ImageServer or FeatureServer",
    items=("item", "items"),
    paths=(
        PathForm(
            name="ArcGIS Server, all that lies beneath its services",
            hint="/rest/services",
            path=r'/rest/services(?:/|"?$)',
            example="https://gis.example.org/arcgis/rest/services/Roads/MapServer/0",
        ),
        PathForm(
            name="ArcGIS Server, what it says of itself",
            hint="/rest/info",
            path="/rest/info/?$",
            example="https://gis.example.org/arcgis/rest/info",
        ),
    ),
    keys=(
        frozenset({"currentVersion", "services"}),
        frozenset({"currentVersion", "serviceDescription"}),
        frozenset({"currentVersion", "fullExtent", "capabilities"}),
    ),
    is_document=is_arcgis,
)
