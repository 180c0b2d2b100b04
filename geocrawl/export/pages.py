"""Write kept pages to files for other software: one WARC file (ISO 28500), or one text file a page.

A page is kept without the headers of its answer, so its WARC record is a `resource`: the body with its type, unaltered.
Every file appears whole or not at all, and an existing file is replaced only on request.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from geocrawl import __version__
from geocrawl.errors import UsageError
from geocrawl.files import SECRET, make_folder, refuse_database, whole_file, write_faults
from geocrawl.formats.warc import info_record, resource_record
from geocrawl.model import KeptPage, Page
from geocrawl.page.document import PageReader
from geocrawl.sanitize import masked, plain
from geocrawl.urls import read_url
from geocrawl.urls.database import DatabaseUrl

INDEX = "index.jsonl"
"""In a folder of texts: which file is which page."""
_NO_NAME = re.compile(r"[^a-z0-9.-]+")
_NAME_CHARS = 80
FORMATS = ("warc", "text")


def text_of(page: KeptPage) -> str:
    """Return the readable text of a page: its title, then its visible text, with white space folded."""
    url = read_url(page.address)
    if url is None:
        return ""
    label = f"{page.content_type or 'text/html'}; charset={page.encoding}"
    document = PageReader().read(Page(url, url, 200, {"content-type": label}, page.body, 0.0, 0.0), depth=0)
    return f"{document.title}\n\n{document.text}".strip()


def export(
    pages: Iterable[KeptPage],
    format: str,
    out: Path,
    database: DatabaseUrl,
    *,
    replace: bool = False,
    with_secrets: bool = False,
) -> int:
    """Write the pages to `out`, a WARC file or a folder of texts; return how many there were.

    `database` names the catalogue, which is never written to; `replace`: files that exist are replaced. Raises
    UsageError for an unknown format or a path that must not be written, EnvironmentFault when writing fails.
    """
    if format not in FORMATS:
        raise UsageError(f"--format {format!r}: one of {', '.join(FORMATS)}")

    def check(path: Path) -> None:
        refuse_database(path, database)
        if not replace and os.path.lexists(path):
            raise UsageError(f"{path}: exists; --force replaces it")

    if format == "warc":
        check(out)
        return write_warc(pages, out, with_secrets=with_secrets)
    if not out.is_dir():
        check(out)
    return _write_texts(pages, out, may_write=check, with_secrets=with_secrets)


def write_warc(pages: Iterable[KeptPage], out: Path, *, with_secrets: bool = False) -> int:
    """Write the pages to one gzipped WARC file; return how many there were.

    `with_secrets`: keys and passwords in the pages' addresses are not masked. Raises EnvironmentFault when the file
    cannot be written.
    """
    count = 0
    with write_faults(out), whole_file(out, new_mode=SECRET) as file:
        file.write(info_record([("software", f"geocrawl {__version__}")]))
        for page in pages:
            address = page.address if with_secrets else masked(page.address)
            file.write(resource_record(address, _labelled(page), page.body, page.stored_at))
            count += 1
    return count


def _write_texts(
    pages: Iterable[KeptPage], folder: Path, *, may_write: Callable[[Path], None], with_secrets: bool
) -> int:
    """Write the text of each page to a file in `folder`, and an index of them; return how many there were.

    `may_write` is called with every path beforehand and raises what forbids it. Raises EnvironmentFault when a file
    cannot be written.
    """
    lines = []
    shown: Callable[[str], str] = str if with_secrets else masked
    new_mode = SECRET if with_secrets else 0o666
    with write_faults(folder):
        make_folder(folder)
        may_write(folder / INDEX)
        for number, page in enumerate(pages, 1):
            path = folder / _file_name(number, page.address)
            may_write(path)
            with whole_file(path, new_mode=new_mode) as file:
                lines_of_text = (shown(plain(line)) + "\n" for line in text_of(page).splitlines())
                file.write("".join(lines_of_text).encode("utf-8", "replace"))
            title = shown(plain(page.title))
            row = {"file": path.name, "url": shown(page.address), "title": title, "score": page.score}
            lines.append(json.dumps({**row, "stored_at": page.stored_at}, ensure_ascii=False) + "\n")
        with whole_file(folder / INDEX, new_mode=new_mode) as file:
            file.write("".join(lines).encode("utf-8", "replace"))
    return len(lines)


def _labelled(page: KeptPage) -> str:
    media_type = page.content_type or "application/octet-stream"
    return f"{media_type}; charset={page.encoding}" if page.encoding else media_type


def _file_name(number: int, address: str) -> str:
    """Return a file name: the page's place in the order of scores, and the readable part of its address."""
    readable = _NO_NAME.sub("-", masked(address).partition("://")[2].lower())[:_NAME_CHARS].strip("-.")
    return f"{number:05}-{readable}.txt"
