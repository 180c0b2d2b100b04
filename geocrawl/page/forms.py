"""Compute the address that a GET form requests when a person just presses its button (HTML standard, 4.10.21.3)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

Attributes = Mapping[str, str | None]

MAX_FIELDS = 100
_VALUELESS = frozenset({"submit", "button", "image", "reset", "file", "password"})
_TICKED = frozenset({"checkbox", "radio"})


class FormReader:
    """Collects the fields of one form during the walk over the page."""

    def __init__(self, attributes: Attributes) -> None:
        self.is_get = (attributes.get("method") or "get").strip().lower() != "post"
        self.name = attributes.get("title") or attributes.get("name") or attributes.get("id") or ""
        self.has_fields = False
        self._action = (attributes.get("action") or "").strip()
        self._fields: list[tuple[str, str]] = []
        self._select = ""
        self._chosen: str | None = None

    def input(self, attributes: Attributes) -> None:
        """Add an `input` that has a name, and a value before anybody types."""
        self.has_fields = True
        kind = (attributes.get("type") or "text").strip().lower()
        if kind in _VALUELESS or (kind in _TICKED and "checked" not in attributes):
            return
        self._add(attributes.get("name"), attributes.get("value") or ("on" if kind in _TICKED else ""))

    def select(self, attributes: Attributes) -> None:
        """Begin a `select`, whose value is the option marked `selected`, else the first option."""
        self.has_fields = True
        self._select, self._chosen = attributes.get("name") or "", None

    def option(self, attributes: Attributes, label: str) -> None:
        """Add an `option` of the open select; `label` replaces a missing value."""
        if self._chosen is None or "selected" in attributes:
            value = attributes.get("value")
            self._chosen = " ".join(label.split()) if value is None and "value" not in attributes else value or ""

    def end_select(self) -> None:
        """End the open `select`."""
        self._add(self._select, self._chosen or "")
        self._select, self._chosen = "", None

    def _add(self, name: str | None, value: str) -> None:
        if name and value and len(self._fields) < MAX_FIELDS:
            self._fields.append((name, value))

    def href(self, codec: str) -> str:
        """Return the form's action with the fields as its only query. `codec`: the page's encoding."""
        if not self._fields:
            return self._action
        action = self._action.partition("#")[0].partition("?")[0]
        query = urlencode(self._fields, encoding=codec, errors="xmlcharrefreplace", safe=":/,")
        return f"{action}?{query}"
