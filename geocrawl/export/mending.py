"""Say what is wrong with a service, which section of a standard says so, and how whoever runs its server mends it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of a deviation's or a verdict's code; each text is '' where the sources have none."""

    meaning: str = ""
    standard: str = ""
    """Section of the standard."""
    done: str = ""
    """What geocrawl does when it meets the deviation."""
    mend: str = ""
    """What whoever runs the server can do."""


_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| ([^|]+) \| ([^|]+) \|.*\| ([^|]+) \|$", re.MULTILINE)


@cache
def deviations() -> Mapping[str, Explanation]:
    """Return what each deviation means, by code, from the tables in docs/deviations.md."""
    package = Path(__file__).parents[1]
    installed = package / "data" / "deviations.md"
    path = installed if installed.is_file() else package.parent / "docs" / "deviations.md"
    text = path.read_text("utf-8").partition("\n# Reasons")[0]
    mending: Mapping[str, str] = _advice()["deviations"]
    found, section = dict[str, Explanation](), ""
    for code, meaning, standard, done in _ROW.findall(text):
        section = section if standard == "the same" else _unmarked(standard)
        found.setdefault(code, Explanation(_unmarked(meaning), section, _unmarked(done), mending.get(code, "")))
    return found


def explain(code: str) -> Explanation:
    """Return what a finding means: a deviation, the reason of a verdict (`http-503`), a lack (`lacks-contact`)."""
    if code in deviations():
        return deviations()[code]
    findings: Mapping[str, Mapping[str, str]] = _advice()["findings"]
    fitting = [name for name in findings if code.startswith(name)]
    return Explanation(**findings[max(fitting, key=len, default="other")])


@cache
def _advice() -> dict[str, Any]:
    return tomllib.loads((files("geocrawl") / "data" / "mending.toml").read_text("utf-8"))


def _unmarked(text: str) -> str:
    """Return a cell of a table without Markdown's marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").strip()
