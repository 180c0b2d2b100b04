"""Bring pages from outside docs/ into the site that MkDocs makes (`make docs`), and lead links to them there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {"systemd/README.md": "systemd.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""File of the checkout → its name in the site."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside."""
    from mkdocs.structure.files import File

    for name, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=inside((ROOT / name).read_text("utf-8"))))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the text of a page with links to the pages from outside; other files outside docs/ are named only."""
    for name, place in OUTSIDE.items():
        markdown = markdown.replace(f"](../{name}", f"]({place}")
    outside = "../" * (page.file.src_uri.count("/") + 1)
    return re.sub(rf"\[([^\]]+)\]\({re.escape(outside)}([^)]+)\)", r"\1 (`\2`)", markdown)


def inside(markdown: str) -> str:
    """Return the text of a page from outside with links to docs/ as they are in the site."""
    return (
        markdown.replace("](../docs/", "](").replace("](docs/", "](").replace("](CONTRIBUTING.md", "](contributing.md")
    )
