"""Collect the scripts, form fields and metadata attributes of an HTML page.

`embedded` and `scriptfiles` decide which of these pieces are read, after the whole page was walked.
"""

from __future__ import annotations

from collections.abc import Mapping

from selectolax.lexbor import LexborNode

from geocrawl.page.content import MAX_ANCHOR_CHARS, RawLink
from geocrawl.page.scriptfiles import choose_scripts, configurations_named, named_in_attributes, shows_map

MAX_CODE_CHARS = 500_000
"""Most characters of all inline scripts of a page; later scripts are not read."""
MAX_VALUES = 2_000
Attributes = Mapping[str, str | None]


class Pieces:
    """Scripts, form fields and values of a page, collected during the walk."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        """Addresses of linked scripts."""
        self.scripts: list[tuple[str, str]] = []
        """(type, code) of inline scripts."""
        self.values: list[tuple[str, str, str]] = []
        """(element, name, value) of fields and attributes that may contain an address."""
        self._code_chars = 0

    def script(self, node: LexborNode) -> None:
        """Add a `script`, inline or linked."""
        attributes = node.attributes
        if source := attributes.get("src"):
            self.sources.append(source)
        elif self._code_chars < MAX_CODE_CHARS:
            code = node.text()
            self._code_chars += len(code)
            self.scripts.append(((attributes.get("type") or "").lower(), code))

    def textarea(self, node: LexborNode) -> None:
        """Add a `textarea`, whose value is its text."""
        self._add("textarea", node.attributes.get("name"), node.text())

    def embedded(self, node: LexborNode) -> None:
        """Add an `object` or `embed`."""
        attributes = node.attributes
        self._add(node.tag or "", attributes.get("name"), attributes.get("data") or attributes.get("src"))

    def input(self, attributes: Attributes) -> None:
        """Add an `input` of any form, or outside forms."""
        self._add("input", attributes.get("name"), attributes.get("value"))

    def option(self, attributes: Attributes, label: str) -> None:
        """Add an `option` with its visible label."""
        self._add("option", label[:MAX_ANCHOR_CHARS], attributes.get("value"))

    def microdata(self, attributes: Attributes) -> None:
        """Add a `meta` that belongs to an item of microdata (HTML standard, 5.2)."""
        item = attributes.get("itemprop")
        if item is not None:
            self._add("microdata", item, attributes.get("content"))

    def scripts_worth_fetching(self, html: str, limit: int) -> list[RawLink]:
        """Return at most `limit` linked scripts and configurations that may contain addresses of services."""
        code = [code for _, code in self.scripts if ".json" in code or ".xml" in code]
        configurations = [href for each in code for href in configurations_named(each)]
        configurations += named_in_attributes(html)
        if not self.sources and not configurations:
            return []
        return choose_scripts(self.sources, configurations, lambda: shows_map(html.lower()), limit=limit)

    def _add(self, element: str, name: str | None, value: str | None) -> None:
        if value and "/" in value and len(self.values) < MAX_VALUES:
            self.values.append((element, name or "", value))
