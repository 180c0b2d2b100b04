"""Choose the columns of services and layers that golden texts show: few, so that a column more changes one text.

`views/v_services` and `views/v_layers` have all columns with their values. `tests/test_columns.py` demands that every
face (files, records, schema, page …) has exactly the declared ones.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

CHOSEN = frozenset(
    {
        *("id", "service_id", "position", "name", "kind", "type", "item", "title", "url", "provider", "keywords"),
        *("formats", "layers", "box", "west", "south", "east", "north", "geometry", "country", "description"),
        *("alive", "health", "level", "status", "reason", "quality", "first_seen", "last_ok", "created", "updated"),
        *("deviations", "twins", "page", "contacts", "rights", "externalIds", "availability30d", "qualityParts"),
        *("endpoints", "same", "quality_parts", "matching_layers", "score", "is_whole"),
    }
)
"""Columns, properties of records, and what answers hold besides."""
LABELS = frozenset({"Provider", "Keywords", "Extent", "Contact", "提供者", "关键词", "范围", "联系方式"})
"""Labels of columns on the page of a service."""
_SERVICE = frozenset({"kind", "title", "provider", "layers"})
_LAYER = frozenset({"position", "name", "title", "crs"})
_FACTS = re.compile(r'(?s)(?<=<h2 id="about-title">).*?(?=</dl>)')
_FACT = re.compile(r"(?s)<dt>(.*?)</dt><dd>.*?</dd>\s*")


def is_chosen(name: str) -> bool:
    """Return whether golden texts show a column, or a property of a record."""
    return name.removeprefix("geocrawl:") in CHOSEN


def of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chosen columns of a service or a layer."""
    return {name: value for name, value in row.items() if is_chosen(name)}


def of_json(value: Any) -> Any:
    """Return JSON with the chosen columns of services, layers, records and their schema."""
    if isinstance(value, list):
        return [of_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {name: of_json(member) for name, member in value.items()}
    if value.keys() >= _SERVICE or value.keys() >= _LAYER:
        return of_row(inner)
    if isinstance(inner.get("properties"), dict) and (value.get("type") == "Feature" or "$schema" in value):
        inner["properties"] = of_row(inner["properties"])
    return inner


def of_text(text: str) -> str:
    """Return a table in CSV or JSON lines with the chosen columns; another text as it is."""
    if text.startswith("url,kind,status"):
        rows = csv.DictReader(io.StringIO(text))
        out = io.StringIO()
        writer = csv.DictWriter(out, list(filter(is_chosen, rows.fieldnames or ())), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(of_row, rows))
        return out.getvalue()
    return "".join(map(_line, text.splitlines(keepends=True))) if text.startswith('{"') else text


def _line(text: str) -> str:
    """Return a line of JSON lines or of GeoJSON."""
    with suppress(ValueError):
        ending = text[len(text.rstrip(",\n")) :]
        return f"{json.dumps(of_json(json.loads(text.removesuffix(ending))), ensure_ascii=False)}{ending}"
    return text


def of_page(text: str) -> str:
    """Return HTML with the chosen columns among the facts of a service."""
    return _FACTS.sub(lambda facts: _FACT.sub(lambda fact: fact[0] if fact[1] in LABELS else "", facts[0]), text)
