#!/usr/bin/python3
"""Import connection files into QGIS with its own dialog, in a profile of its own, and print what QGIS then has.

It runs with the Python that has QGIS (`/usr/bin/python3 qgis_import.py FILE.xml…`), which is not that of geocrawl, and
imports nothing of it. Prints a JSON list, one object a file: `imported` connections, `wrong` names (missing, or with
another address) and `asked`: what QGIS asked meanwhile.
"""

import json
import os
import sys
import tempfile
import xml.etree.ElementTree as ET
from typing import Any

HOME = tempfile.mkdtemp(prefix="qgis-import-")
os.environ.update(HOME=HOME, QGIS_CUSTOM_CONFIG_PATH=HOME, XDG_RUNTIME_DIR=HOME, QT_QPA_PLATFORM="offscreen")

from qgis.core import QgsApplication, QgsSettings  # noqa: E402
from qgis.gui import QgsManageConnectionsDialog as Dialog  # noqa: E402
from qgis.PyQt.QtCore import QCoreApplication, QTimer  # noqa: E402
from qgis.PyQt.QtWidgets import QApplication, QDialogButtonBox, QListWidget, QMessageBox  # noqa: E402

# Root → type of the dialog, and the groups of settings that hold the connections, before and after QGIS 3.26.
KINDS = {
    "qgsWMSConnections": ("WMS", "qgis/connections-wms", "connections/ows/items/wms/connections/items"),
    "qgsWFSConnections": ("WFS", "qgis/connections-wfs", "connections/ows/items/wfs/connections/items"),
    "qgsWCSConnections": ("WCS", "qgis/connections-wcs", "connections/ows/items/wcs/connections/items"),
    "qgsXYZTilesConnections": ("XyzTiles", "qgis/connections-xyz", "connections/xyz/items"),
    "qgsVectorTileConnections": ("VectorTile", "qgis/connections-vector-tile", "connections/vector-tile/items"),
    "qgsARCGISMAPSERVERConnections": (
        "ArcgisMapServer",
        "qgis/connections-arcgismapserver",
        "connections/arcgisfeatureserver/items",
    ),
    "qgsARCGISFEATURESERVERConnections": (
        "ArcgisFeatureServer",
        "qgis/connections-arcgisfeatureserver",
        "connections/arcgisfeatureserver/items",
    ),
    "qgsStacConnections": ("STAC", "qgis/connections-stac", "connections/stac/items"),
}
ASKED: list[str] = []


def answer_boxes() -> None:
    """Note the text of a message box, and say yes: it would wait for a person."""
    box = QApplication.activeModalWidget()
    if isinstance(box, QMessageBox):
        ASKED.append(box.text())
        (box.button(QMessageBox.YesToAll) or box.buttons()[0]).click()


def stored(groups: list[str]) -> dict[str, str]:
    """Return name → address of the connections in QGIS's settings."""
    settings: Any = QgsSettings()
    found: dict[str, str] = {}
    for group in groups:
        settings.beginGroup(group)
        names = settings.childGroups()
        settings.endGroup()
        for name in names:
            found[name] = settings.value(f"{group}/{name}/url")
    return found


def imported(file: str) -> dict[str, Any]:
    """Import a file and return what QGIS has of it."""
    root = ET.parse(file).getroot()
    type_, *groups = KINDS[root.tag]
    if not hasattr(Dialog, type_):
        return {"file": file, "skipped": f"this QGIS has no connections of the type {type_}"}
    before, asked = set(stored(groups)), len(ASKED)
    dialog = Dialog(None, Dialog.Import, getattr(Dialog, type_), file)
    dialog.findChild(QListWidget).selectAll()
    dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.Ok).click()
    QCoreApplication.processEvents()
    have = stored(groups)
    wrong = [each.get("name") for each in root if have.get(each.get("name", "")) != each.get("url")]
    return {"file": file, "imported": len(set(have) - before), "wrong": wrong, "asked": ASKED[asked:]}


application = QgsApplication([], True)
application.initQgis()
timer = QTimer()
timer.timeout.connect(answer_boxes)
timer.start(50)
sys.stdout.write(json.dumps([imported(file) for file in sys.argv[1:]]))
sys.stdout.flush()
os._exit(0)  # QGIS may crash while it ends
