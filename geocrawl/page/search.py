"""Read OpenSearch descriptions: the address of a site's search, without the template's parameters.

OpenSearch 1.1, "OpenSearch URL template syntax".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from geocrawl.formats.elements import child, first_text
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link

_MAX_TEMPLATE_CHARS = 2000
"""Longest template: a longer one is no address, and matching takes quadratic time."""
_PARAMETER = re.compile(r"[^?&]*\{[^{}&]*\}[^&]*&?")


def read_search_description(root: etree._Element) -> Iterator[RawLink]:
    """Yield the search addresses that can be requested without a search term."""
    names = [first_text(child(root, "LongName")) or first_text(child(root, "ShortName"))]
    descriptions = [first_text(child(root, "Description"))]
    for url in root.iter("{*}Url"):
        template = url.get("template") or ""
        if len(template) > _MAX_TEMPLATE_CHARS:
            continue
        place, mark, query = template.partition("?")
        if place and "{" not in place and (url.get("rel") or "results") in ("results", "collection"):
            query = _PARAMETER.sub("", query).rstrip("&")
            yield link(place + mark + query, "opensearch", names=names, descriptions=descriptions, kind="")
