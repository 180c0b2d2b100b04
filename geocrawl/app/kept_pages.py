"""Show and export the pages that a crawl kept: as text, as a WARC file, or as a folder of text files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.export.pages import check_target, write_texts, write_warc
from geocrawl.model import KeptPage, Page
from geocrawl.page.document import PageReader
from geocrawl.urls import read_url
from geocrawl.urls.database import Place

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
    database: Place,
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
    check = partial(check_target, database=database, replace=replace)
    if format == "warc":
        check(out)
        return write_warc(pages, out, with_secrets=with_secrets)
    if not out.is_dir():
        check(out)
    return write_texts(pages, out, text_of, may_write=check, with_secrets=with_secrets)
