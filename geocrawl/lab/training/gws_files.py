"""Train from files: `geocrawl train topic` and `geocrawl train links`.

Training reads the examples, leaves out pages of the webs that the model will be measured on, and writes the model with
a record of how it was trained: files with sha256, counts, options, date, excluded pages and how well the topic
separates held-out sites. The functions return that record too.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.lab.training.gws_models import (
    LINK_KEYWORDS,
    ON_TOPIC,
    ORDINARY_SHARE,
    TITLE_WEIGHT,
    TOPIC_KEYWORDS,
    LabelledLink,
    LabelledPage,
    initial_keywords,
    standard_keywords,
    train_links,
    train_topic,
)
from geocrawl.lab.training.labelled_pages import EXCLUSION, FOLDS, fold_of, read_examples, read_text, record
from geocrawl.lab.training.overlap import TextOf
from geocrawl.model import Relevance
from geocrawl.priority.models import write_links, write_topic
from geocrawl.priority.nearness import MOST_WEIGHT, TopicMeasure
from geocrawl.priority.strategies.gws import OPTIONS


def train_topic_file(
    pages: Path, out: Path, exclude: Sequence[Path], text_of: TextOf, *, on: dt.date
) -> dict[str, object]:
    """Learn the topic from `pages`, write it to `out` and return the record.

    `pages`: JSON lines of url, lang, label and html (.gz or plain). `exclude`: recorded webs whose pages must not be
    learnt from. `text_of` extracts title and text from a page. `on`: the date to record.
    Raises UsageError, naming the line, for a file of another format, EnvironmentFault for a file that cannot be read.
    """
    examples = read_examples(pages, exclude, text_of)
    model = train_topic(examples.kept)
    on_topic = [page for page in examples.kept if page.label == ON_TOPIC]  # the paper's corpus of the IDF, too
    standard = train_topic(on_topic, standard_keywords()).vectors
    made: dict[str, object] = {
        **record("TF-IDF of initial keywords over pages labelled ogc (geocrawl train topic)", [pages], exclude, on=on),
        "options": {"n": TOPIC_KEYWORDS, "title_weight": TITLE_WEIGHT, **EXCLUSION},
        "initial_keywords": {language: len(words) for language, words in initial_keywords().items()},
        "pages": examples.counts(),
        "held_out_levels_0_1_2": separation(examples.kept),
        "excluded_pages": examples.excluded,
    }
    write_topic(replace(model, made=made, standard=standard), out)
    return {
        **made,
        "vectors": model.vectors,
        "standard": standard,
        "excluded_pages": len(examples.excluded),
        "out": str(out),
    }


def train_links_file(urls: Path, out: Path, *, on: dt.date) -> dict[str, object]:
    """Learn the link keywords from `urls`, a CSV of url, label and optionally anchor and note, and write them to `out`.

    Returns the record. Raises UsageError for a file of another format, EnvironmentFault for a file that cannot be read.
    """
    rows = list(read_labelled_links(urls))
    model = train_links(rows)
    made: dict[str, object] = {
        **record("most frequent words of WMS links, one link a site (geocrawl train links)", [urls], [], on=on),
        "options": {"k": LINK_KEYWORDS, "ordinary_share": ORDINARY_SHARE},
        "links": dict(Counter(row.label for row in rows).most_common()),
        **model.made,
    }
    write_links(replace(model, made=made), out)
    return {**made, "keywords": model.keywords, "standard": model.standard, "out": str(out)}


def separation(pages: Sequence[LabelledPage]) -> dict[str, dict[str, list[int]]]:
    """Return how well the topic separates pages of held-out sites:

    language → label → pages of level 0, 1, 2.

    Sites are assigned to five folds by their hash; each fold is measured with a model of the other four. Empty when one
    of these models has no page to learn from.
    """
    levels: dict[tuple[str, str], list[int]] = {}
    folds = [[page for page in pages if fold_of(page) == fold] for fold in range(FOLDS)]
    for held_out in folds:
        try:
            model = train_topic([page for fold in folds if fold is not held_out for page in fold])
        except UsageError:
            return {}
        measure = TopicMeasure(model.capped(MOST_WEIGHT), TITLE_WEIGHT)
        for page in held_out:
            level = _level(measure.nearness(page.title, page.text).r)
            levels.setdefault((page.language, page.label), [0] * len(Relevance))[level] += 1
    table: dict[str, dict[str, list[int]]] = {}
    for (language, label), counts in sorted(levels.items()):
        table.setdefault(language, {})[label] = counts
    return table


def _level(r: float) -> int:
    return (r >= float(OPTIONS["low"].default)) + (r >= float(OPTIONS["high"].default))


def read_labelled_links(path: Path) -> Iterator[LabelledLink]:
    """Yield the rows of a CSV of url, label and optionally anchor and note. Raises UsageError and EnvironmentFault."""
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
