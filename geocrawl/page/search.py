"""OpenSearch descriptions: where a site's search answers, its template's parameters left out (OpenSearch 1.1, "URL
template syntax")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from geocrawl.formats.elements import child, first_text
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link

_MAX_TEMPLATE_CHARS = 2000
"""A longer one is no address; and the pattern takes the square of its length."""
_PARAMETER = re.compile(r"[^?&]*\{[^{}&]*\}[^&]*&?")


def read_search_description(root: etree._Element) -> Iterator[RawLink]:
    """The search addresses that can be asked without a word to search for."""
    names = [first_text(child(root, "LongName")) or first_text(child(root, "ShortName"))]
    said_of_it = [first_text(child(root, "Description"))]
    for url in root.iter("{*}Url"):
        template = url.get("template") or ""
        if len(template) > _MAX_TEMPLATE_CHARS:
            continue
        place, mark, query = template.partition("?")
        if place and "{" not in place and (url.get("rel") or "results") in ("results", "collection"):
            query = _PARAMETER.sub("", query).rstrip("&")
            yield link(place + mark + query, "opensearch", names=names, said_of_it=said_of_it, kind="")
