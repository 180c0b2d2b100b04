"""Training from files: `geocrawl train topic` and `geocrawl train links`.

Examples are read, pages that stand in the webs the model will be measured on are left out, and the model is written
with the record of its making: files with sha256, counts, options, date, excluded pages and how the topic separates
held-out sites. That record is also what the functions return.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import hashlib
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from geocrawl import __version__
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.model import Relevance
from geocrawl.priority.gws import OPTIONS
from geocrawl.priority.models import write_links, write_topic
from geocrawl.priority.overlap import CONTAINED, SHINGLE_WORDS, TextOf, contained
from geocrawl.priority.topic import TopicMeasure
from geocrawl.priority.training import (
    LINK_KEYWORDS,
    ORDINARY_SHARE,
    TITLE_WEIGHT,
    TOPIC_KEYWORDS,
    LabelledLink,
    LabelledPage,
    initial_keywords,
    train_links,
    train_topic,
)
from geocrawl.urls import read_url

HELD_OUT_FOLDS = 5
_HTML = "text/html; charset=utf-8"
"""Training pages are text in JSON, so whatever their markup says they are handed on as UTF-8."""


def train_topic_file(
    pages: Path, out: Path, exclude: Sequence[Path], text_of: TextOf, *, on: dt.date
) -> dict[str, object]:
    """Learn the topic from `pages` and write it to `out`; returns the record.

    `pages`: JSON lines of url, lang, label and html (.gz or plain). `exclude`: recorded webs whose pages must not be
    learnt from. `text_of` takes title and text out of a page. `on`: the date to record.
    Raises UsageError for a file that is none of that (with the line), EnvironmentFault for one that cannot be read.
    """
    read = list(read_pages(pages, text_of))
    standing = contained([page.text for page in read], exclude, text_of)
    kept = [page for i, page in enumerate(read) if i not in standing]
    model = train_topic(kept)
    made: dict[str, object] = {
        "how": "TF-IDF of initial keywords over pages labelled ogc (geocrawl train topic)",
        "date": on.isoformat(),
        "geocrawl": __version__,
        "files": [fingerprint(pages)],
        "exclude": [fingerprint(world / "pages.warc.gz", world.name) for world in exclude],
        "options": {
            "n": TOPIC_KEYWORDS,
            "title_weight": TITLE_WEIGHT,
            "shingle_words": SHINGLE_WORDS,
            "contained": CONTAINED,
        },
        "initial_keywords": {language: len(words) for language, words in initial_keywords().items()},
        "pages": {"read": len(read), "excluded": len(standing), "learnt_from": by_label(kept)},
        "held_out_levels_0_1_2": separation(kept),
        "excluded_pages": sorted(read[i].url for i in standing),
    }
    write_topic(replace(model, made=made), out)
    return {**made, "vectors": model.vectors, "excluded_pages": len(standing), "out": str(out)}


def train_links_file(urls: Path, out: Path, *, on: dt.date) -> dict[str, object]:
    """Learn the link keywords from `urls`, a CSV of url, label and, if there are, anchor and note, and write them.

    Returns the record. Raises UsageError for a file that is none of that, EnvironmentFault for one that cannot be read.
    """
    rows = list(read_labelled_links(urls))
    model = train_links(rows)
    made: dict[str, object] = {
        "how": "most frequent words of WMS links, one link a site (geocrawl train links)",
        "date": on.isoformat(),
        "geocrawl": __version__,
        "files": [fingerprint(urls)],
        "options": {"k": LINK_KEYWORDS, "ordinary_share": ORDINARY_SHARE},
        "links": dict(Counter(row.label for row in rows).most_common()),
        **model.made,
    }
    write_links(replace(model, made=made), out)
    return {**made, "keywords": model.keywords, "out": str(out)}


def separation(pages: Sequence[LabelledPage]) -> dict[str, dict[str, list[int]]]:
    """How the topic separates pages of sites that it was not learnt from: language → label → pages of level 0, 1, 2.

    Sites are dealt into five folds by their hash; each fold is measured by the model of the others. Empty when one of
    these has nothing to learn from.
    """
    levels: dict[tuple[str, str], list[int]] = {}
    folds = [[page for page in pages if _fold(page) == fold] for fold in range(HELD_OUT_FOLDS)]
    for held_out in folds:
        try:
            model = train_topic([page for fold in folds if fold is not held_out for page in fold])
        except UsageError:
            return {}
        measure = TopicMeasure(model, TITLE_WEIGHT)
        for page in held_out:
            level = _level(measure.nearness(page.title, page.text).r)
            levels.setdefault((page.language, page.label), [0] * len(Relevance))[level] += 1
    table: dict[str, dict[str, list[int]]] = {}
    for (language, label), counts in sorted(levels.items()):
        table.setdefault(language, {})[label] = counts
    return table


def _level(r: float) -> int:
    return (r >= float(OPTIONS["low"].default)) + (r >= float(OPTIONS["high"].default))


def _fold(page: LabelledPage) -> int:
    url = read_url(page.url)
    return hashlib.sha256((url.site if url else page.url).encode()).digest()[0] % HELD_OUT_FOLDS


def by_label(pages: Sequence[LabelledPage]) -> dict[str, int]:
    """ "label language" → pages, for the record of a model."""
    return dict(sorted(Counter(f"{page.label} {page.language}" for page in pages).items()))


# --------------------------------------------------------------------------- files


def read_pages(path: Path, text_of: TextOf) -> Iterator[LabelledPage]:
    """The pages of JSON lines (.gz or plain). Raises UsageError, naming the line, and EnvironmentFault."""
    for number, line in enumerate(io.StringIO(read_text(path)), 1):
        if not line.strip():
            continue
        try:
            row: Mapping[str, str] = json.loads(line)
            title, text = text_of(row["html"].encode("utf-8", "surrogatepass"), _HTML)
            yield LabelledPage(row["url"], row["lang"], row["label"], title, text)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{path}, line {number}: expected a JSON object with url, lang, label and html "
                f"({type(error).__name__}: {error})"
            ) from error


def read_labelled_links(path: Path) -> Iterator[LabelledLink]:
    """The rows of a CSV of url, label and, if there are, anchor and note. Raises UsageError and EnvironmentFault."""
    table = csv.DictReader(io.StringIO(read_text(path), newline=""))
    missing = {"url", "label"} - set(table.fieldnames or ())
    if missing:
        raise UsageError(
            f"{path}: no column {' and '.join(sorted(missing))}; expected a CSV with url, label, anchor, note"
        )
    try:
        for row in table:
            yield LabelledLink(row["url"] or "", row["label"] or "", row.get("anchor") or "", row.get("note") or "")
    except csv.Error as error:
        raise UsageError(f"{path}, line {table.line_num}: {error}") from error


def read_text(path: Path) -> str:
    """The file's text, unpacked when its name ends in .gz."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start:,}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise EnvironmentFault(f"{path} cannot be read: {error}") from error


def fingerprint(path: Path, name: str = "") -> dict[str, object]:
    """Name, size and sha256 of a file that was learnt from."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"file": name or path.name, "bytes": path.stat().st_size, "sha256": digest}
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror or error}") from error
