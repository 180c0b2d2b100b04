#!/usr/bin/python3
"""Search a CSW with MetaSearch, QGIS's own dialog, and print what it shows and offers.

It runs with the Python that has QGIS (`/usr/bin/python3 qgis_metasearch.py CSW KEYWORDS`), which is not that of
geocrawl, and imports nothing of it. Prints a JSON object: `result` (the line above the records), `warnings`, and
`records`, each with its title, whether a footprint is drawn, and the kinds of layers that may be added from it.
"""

import json
import os
import sys
import tempfile

HOME = tempfile.mkdtemp(prefix="qgis-metasearch-")
os.environ.update(HOME=HOME, QGIS_CUSTOM_CONFIG_PATH=HOME, XDG_RUNTIME_DIR=HOME, QT_QPA_PLATFORM="offscreen")
sys.path.append("/usr/share/qgis/python/plugins")

from qgis.core import QgsApplication, QgsSettings  # noqa: E402
from qgis.gui import QgsMapCanvas  # noqa: E402
from qgis.PyQt.QtCore import QCoreApplication  # noqa: E402
from qgis.PyQt.QtWidgets import QMessageBox  # noqa: E402

NAME = "geocrawl"
KINDS = {"WMS": "mActionAddWms", "WFS": "mActionAddWfs", "WCS": "mActionAddWcs", "AMS": "mActionAddAms"}


class Interface:
    """What the dialog asks of QGIS's main window."""

    def __init__(self) -> None:
        self.canvas = QgsMapCanvas()

    def mapCanvas(self) -> QgsMapCanvas:
        return self.canvas


def main(address: str, keywords: str) -> None:
    QCoreApplication.setOrganizationName("QGIS")
    QCoreApplication.setApplicationName("QGIS3")
    application = QgsApplication([], True, HOME)
    application.initQgis()
    QgsSettings().setValue(f"/MetaSearch/{NAME}/url", address)
    warnings: list[str] = []
    QMessageBox.warning = lambda parent, title, text, *rest: warnings.append(f"{title}: {text}")
    from MetaSearch.dialogs.maindialog import MetaSearchDialog

    dialog = MetaSearchDialog(Interface())
    dialog.cmbConnectionsSearch.setCurrentText(NAME)
    dialog.spnTimeout.setValue(dialog.spnTimeout.maximum())
    dialog.spnRecords.setValue(50)
    dialog.leKeywords.setText(keywords)
    dialog.search()
    records = []
    for position in range(dialog.treeRecords.topLevelItemCount()):
        item = dialog.treeRecords.topLevelItem(position)
        dialog.treeRecords.clearSelection()
        dialog.treeRecords.setCurrentItem(item)
        item.setSelected(True)
        records.append(
            {
                "title": item.text(1),
                "footprint": dialog.rubber_band.numberOfVertices() > 0,
                "adds": [kind for kind, action in KINDS.items() if getattr(dialog, action).isEnabled()],
            }
        )
    print(json.dumps({"result": dialog.lblResults.text(), "warnings": warnings, "records": records}))
    sys.stdout.flush()
    os._exit(0)  # QGIS may crash when its windows are taken down without a screen


main(*sys.argv[1:])
