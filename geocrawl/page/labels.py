"""Recognise the kind that the label of an address names: "STAC API:", "Darstellungsdienst:", "地图服务：".

Labels name kinds in more words than `naming.kind_in_phrase` takes from prose, where the same words ("map service") mean
nothing. INSPIRE's view services are WMS in most cases and its download services WFS (regulation 976/2009, annex I); the
words are those of the EU's languages.
"""

from __future__ import annotations

import re

from geocrawl.page.naming import kind_in_phrase

_NAMES = {
    "stac": r"stac",
    "ogcapi": r"ogc[ -]{0,3}api|oapif",
    "arcgis": r"(?:arcgis|esri)[ -](?:rest|server)",
    "csw": r"catalogue[ -]service|suchdienst|service de découverte|servicio de catálogo|目录服务",
    "wmts": r"tile service|kacheldienst|瓦片服务|切片服务",
    "wfs": r"download service|downloaddienst|service de téléchargement|servicio de descarga|servizio di download"
    r"|serviço de descarregamento|usługa pobierania|要素服务|要素服務",
    "wms": r"map service|view service|darstellungsdienst|kartendienst\w{0,2}|viewdienst|kaartdienst|raadpleegdienst"
    r"|service de (?:visualisation|consultation|cartes?)|service cartographique|servicio de (?:visualización|mapas)"
    r"|servizio di (?:visualizzazione|consultazione|mappa)|serviço de (?:visualização|mapas)|usług[ai] przeglądania"
    r"|prohlížecí služb[ay]|visningst(?:jeneste|jänst)|karttj(?:eneste|änst)|katselupalvelu|harita servisi"
    r"|картографическ\w{2,4} (?:сервис|служб)\w{0,2}|служб\w просмотра"
    r"|地图服务|地圖服務|地図(?:配信)?サービス|지도 ?서비스",
}
_LABELS = tuple((kind, re.compile(rf"(?<![a-z0-9])(?:{names})(?![a-z0-9])")) for kind, names in _NAMES.items())


def kind_in_label(text: str) -> str:
    """Return the kind that a short text before, behind or above an address names, '' for none."""
    if kind := kind_in_phrase(text):
        return kind
    lower = text.lower()
    return next((kind for kind, names in _LABELS if names.search(lower)), "")
