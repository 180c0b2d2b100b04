"""Train models from files for `geocrawl train`: connect the code that reads pages with the code that learns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.fetch.clock import SystemClock
from geocrawl.lab.training import gws_files
from geocrawl.model import Document, Page
from geocrawl.page.document import PageReader
from geocrawl.store.frontier.yields import link_finds
from geocrawl.urls import read_url
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import date_of

if TYPE_CHECKING:
    from geocrawl.lab.training.bayes_files import Sources


def train_topic(pages: Path, out: Path, exclude: Sequence[Path]) -> dict[str, object]:
    """Train the topic model of gws and return the record of the training."""
    return dict(gws_files.train_topic_file(pages, out, exclude, text_of, on=_today()))


def train_vectors(pages: Path, out: Path, exclude: Sequence[Path], calibrate: Sequence[Path] = ()) -> dict[str, object]:
    """Train the text model that strategies compare pages with, and return the record of the training."""
    from geocrawl.lab.training.vector_model import train_vectors_file

    return dict(train_vectors_file(pages, out, exclude, text_of, on=_today(), calibrate=calibrate))


def text_of(body: bytes, content_type: str) -> tuple[str, str]:
    """Return (title, visible text) of a page, read as a crawl reads it."""
    url = read_url("http://training.invalid/")
    assert url is not None, "a well-formed address"
    page = Page(url, url, 200, {"content-type": content_type}, body, 0.0, 0.0)
    document = PageReader().read(page, depth=0)
    return document.title, document.text


def train_links(urls: Path, out: Path) -> dict[str, object]:
    """Train the link keywords of gws and return the record of the training."""
    return dict(gws_files.train_links_file(urls, out, on=_today()))


def train_bayes(
    out: Path,
    *,
    pages: Path | None,
    urls: Path | None,
    database: DatabaseUrl | None,
    exclude: Sequence[Path],
    topic: str = "",
) -> dict[str, object]:
    """Train the link classifier of bayes from files, a crawl's database and a topic, and return the record.

    Raises UsageError for an unknown topic.
    """
    from geocrawl.lab.training.bayes_files import Sources, train_bayes_file
    from geocrawl.store import Store

    finds: list[tuple[str, str, bool]] = []
    if database:
        with Store.open_readonly(database) as connection:
            finds = list(link_finds(connection))
    sources = Sources(pages, urls, finds, database, exclude)
    if topic:
        sources = _for_topic(sources, topic)
    return train_bayes_file(sources, out, document_of=training_document, text_of=text_of, on=_today())


def _for_topic(sources: Sources, name: str) -> Sources:
    """Return `sources` for a topic of the directory; unchanged for the default topic."""
    from geocrawl.priority.models import VECTORS_FILE, read_vectors, shipped_models
    from geocrawl.priority.topics import all_topics, find_topic, keyword_model, text_model, topics_folder

    topic = find_topic(name, topics_folder())
    if topic.shipped_model:
        return sources
    words = text_model(topic, read_vectors(shipped_models() / VECTORS_FILE))
    others = tuple(all_topics(topics_folder()).values())
    return replace(sources, topic=topic, other_topics=others, keywords=keyword_model(topic, words))


def training_document(address: str, html: str) -> Document:
    """Return a training page as a crawl reads it. Raises ValueError for an invalid address."""
    url = read_url(address)
    if url is None:
        raise ValueError(f"{address!r} is no address of a page")
    body = html.encode("utf-8", "surrogatepass")
    page = Page(url, url, 200, {"content-type": "text/html; charset=utf-8"}, body, 0.0, 0.0)
    return PageReader().read(page, depth=0)


def _today() -> dt.date:
    return date_of(SystemClock().now())
