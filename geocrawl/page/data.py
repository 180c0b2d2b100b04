"""Read JSON as `Content`: catalogues and contexts that are recognised by the structure of the document.

`_FORMATS` lists the readers in the order in which they are tried; the first reader that recognises the document returns
its links. Values may have any type, so every value's type is checked (`formats.json_values`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

from geocrawl.formats.json_reader import is_too_deep
from geocrawl.formats.json_values import string_of
from geocrawl.formats.text import fold, well_formed_escapes
from geocrawl.model import Url
from geocrawl.page.arcgis import read_arcgis
from geocrawl.page.ckan import read_ckan
from geocrawl.page.content import MAX_TEXT_CHARS, MAX_TITLE_CHARS, Content, RawLink
from geocrawl.page.datasets import read_datasets
from geocrawl.page.geonetwork import read_geonetwork
from geocrawl.page.linked import read_linked
from geocrawl.page.offerings import read_offerings
from geocrawl.page.rdf import read_json_ld

_MAX_KEYS = 64
_FORMATS = (read_offerings, read_ckan, read_arcgis, read_geonetwork, read_linked, read_datasets)


def read_data(text: str, url: Url, *, max_links: int) -> Content | None:
    """Return text and links of a JSON document at `url`; None for bytes that are no JSON object or list."""
    data = _parse(text)
    if not isinstance(data, (dict, list)):
        return None
    content = Content(text=text[:MAX_TEXT_CHARS])
    if isinstance(data, dict):
        content.json_keys = tuple(islice((key for key in data if len(key) <= 100), _MAX_KEYS))
        content.title = fold(string_of(data.get("title")), MAX_TITLE_CHARS)
    content.links = list(dict.fromkeys(islice(_links(data, url), max_links)))
    return content


def _parse(text: str) -> Any:
    begun = text.lstrip("\ufeff \t\r\n")
    if not begun.startswith(("{", "[")):
        return None
    if is_too_deep(begun):
        return None
    try:
        return json.loads(well_formed_escapes(begun))
    except (ValueError, RecursionError):
        return None


def _links(data: Any, url: Url) -> Iterable[RawLink]:
    if isinstance(data, dict):
        for reader in _FORMATS:
            links = reader(data, url)
            if links is not None:
                return links
    if isinstance(data, dict) and not {"@context", "@graph"}.isdisjoint(data):
        return read_json_ld(data, url)
    if isinstance(data, list) and data and isinstance(data[0], dict) and "@id" in data[0]:
        return read_json_ld(data, url)
    return ()
