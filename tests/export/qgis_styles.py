#!/usr/bin/python3
"""Open tables of a GeoPackage in QGIS as a person does, and print as JSON the colours that it draws each with.

It runs with the Python that has QGIS (`/usr/bin/python3 qgis_styles.py FILE.gpkg TABLE…`), which is not that of
geocrawl, and imports nothing of it. Prints table → value → colour of its outline, and '' → what names a feature.
"""

import json
import os
import sys
import tempfile
from typing import Any

HOME = tempfile.mkdtemp(prefix="qgis-styles-")
os.environ.update(HOME=HOME, QGIS_CUSTOM_CONFIG_PATH=HOME, XDG_RUNTIME_DIR=HOME, QT_QPA_PLATFORM="offscreen")

from qgis.core import QgsApplication, QgsVectorLayer  # noqa: E402


def drawn(path: str, table: str) -> dict[str, str]:
    """Return the colour of each category."""
    layer: Any = QgsVectorLayer(f"{path}|layername={table}", table, "ogr")
    categories = layer.renderer().categories()
    colours = {each.value(): each.symbol().symbolLayer(0).strokeColor().name() for each in categories}
    return {**colours, "": layer.displayExpression()}


APPLICATION = QgsApplication([], False)
APPLICATION.initQgis()
print(json.dumps({table: drawn(sys.argv[1], table) for table in sys.argv[2:]}))
sys.stdout.flush()
os._exit(0)  # QGIS crashes when it is taken down
