"""Normalise the many names of a coordinate reference system to one spelling.

Kinds and versions write EPSG:4326 as a URN (OGC 07-092r3, 7.2), as an address (OGC 09-048r5) or as a reference into a
file of GML; the catalogue has one text for all. Which axis comes first depends on the spelling, not on the system: see
`is_latitude_first`.
"""

from __future__ import annotations

import re

_LONG = re.compile(
    r"\A(?:urn:(?:x-)?ogc:(?:def:)?crs:|https?://www\.opengis\.net/(?:def/crs/|gml/srs/))", re.IGNORECASE
)
_PLAIN = re.compile(r"\A(epsg|esri|iau|ignf|sr-org)\s*:{1,2}\s*([\w.-]{1,40})\Z", re.IGNORECASE)
_PARTS = re.compile(r"[:/#]+")
_CRS84 = frozenset({"CRS84", "84"})
_GEOGRAPHIC = re.compile(r"\AEPSG:4\d{3}\Z")
"""EPSG's numbers from 4000 to 4999, which are latitude and longitude, with few exceptions."""
_MAX_CHARS = 200


def crs_code(text: str) -> str:
    """Return the code for any spelling: `EPSG:4326`, `CRS:84` …; any other text unchanged, bounded; '' for none."""
    text = "".join(text.split())[:_MAX_CHARS]
    if plain := _PLAIN.match(text):
        return f"{plain[1].upper()}:{plain[2]}"
    prefix = _LONG.match(text)
    if prefix is None:
        return text
    parts = [part for part in _PARTS.split(text[prefix.end() :]) if part]
    if len(parts) < 2:
        return text
    authority, code = parts[0].removesuffix(".xml").upper(), parts[-1]
    if authority in ("OGC", "CRS") and code.upper() in _CRS84:
        return "CRS:84"
    return f"{authority}:{code}"


def is_latitude_first(text: str) -> bool:
    """Return whether corners in this spelling have latitude before longitude.

    That is EPSG's order, to which URNs and addresses commit themselves and the short `EPSG:4326` does not.
    """
    return _LONG.match("".join(text.split())) is not None and _GEOGRAPHIC.match(crs_code(text)) is not None


def is_geographic(text: str) -> bool:
    """Return whether coordinates in a reference system are degrees near to WGS 84: EPSG:4326 and its like, CRS:84."""
    code = crs_code(text)
    return code == "CRS:84" or _GEOGRAPHIC.match(code) is not None
