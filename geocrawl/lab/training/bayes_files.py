"""Train `bayes` from files and finished crawls: `geocrawl train bayes`.

Training reads the examples, leaves out pages of the webs that the model will be measured on, and writes the model with
a record of how it was trained. The functions return that record too.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from geocrawl.errors import UsageError, described
from geocrawl.lab.training.bayes_samples import (
    TOPIC_SHARE,
    authorities,
    domain_lexicon,
    page_samples,
    row_samples,
    topic_authorities,
)
from geocrawl.lab.training.gws_files import read_labelled_links
from geocrawl.lab.training.gws_models import LabelledLink
from geocrawl.lab.training.labelled_pages import EXCLUSION, read_text, record
from geocrawl.lab.training.overlap import TextOf, contained
from geocrawl.model import Document
from geocrawl.priority.naive_bayes import write_bayes
from geocrawl.priority.nearness import TopicModel
from geocrawl.priority.strategies.bayes import LEAST_SOURCES, Sample, topic_lexicon, topic_samples, train_bayes
from geocrawl.priority.topics import Topic
from geocrawl.urls.database import DatabaseUrl

DocumentOf = Callable[[str, str], Document]
"""Function of (address, html) that returns the page as a crawl reads it."""
LICENCE = (
    "urls.csv: mostly dataportals-registry by Dateno (Common Data Index), CC-BY 4.0; only counts of words are kept"
)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of training data; at least one of `pages`, `urls` and `finds` is given."""

    pages: Path | None = None
    """JSON lines of url, label and html (.gz or plain)."""
    urls: Path | None = None
    """A CSV of url, label, anchor and note."""
    finds: Iterable[tuple[str, str, bool]] = ()
    """(anchor, title of its page, whether a valid service followed within two hops) of a crawl's links."""
    database: DatabaseUrl | None = None
    """The database file that `finds` were read from, for the record."""
    exclude: Sequence[Path] = ()
    """Recorded webs whose pages must not be learnt from."""
    topic: Topic | None = None
    """The topic that links are to lead to; None: map services."""
    other_topics: Sequence[Topic] = ()
    """The topics of negative samples."""
    keywords: TopicModel | None = None
    """Keywords of `topic`."""


_NOTHING = Sources()


def train_bayes_file(
    sources: Sources, out: Path, *, document_of: DocumentOf, text_of: TextOf, on: dt.date
) -> dict[str, object]:
    """Train a model from all `sources` together, write it to `out` and return the record.

    Raises UsageError, naming the line, for a file of another format, EnvironmentFault for a file that cannot be read.
    """
    rows = list(read_labelled_links(sources.urls)) if sources.urls else []
    pages = list(read_documents(sources.pages, document_of)) if sources.pages else []
    kept, excluded = without_worlds(pages, sources.exclude, text_of)
    of_pages, of_urls = file_samples(kept, rows, sources)
    samples = {
        "pages": of_pages,
        "urls": of_urls,
        "finds": [Sample(anchor, (title,) if title else (), good, title) for anchor, title, good in sources.finds],
    }
    if sources.topic:
        samples["texts"] = list(topic_samples(sources.topic, sources.other_topics))
    model = train_bayes([each for group in samples.values() for each in group], _lexicon(sources))
    files = [path for path in (sources.pages, sources.urls) if path]
    how = "naive Bayes over links labelled by where they lead (geocrawl train bayes)"
    made: dict[str, object] = {
        **record(how, files, sources.exclude, on=on),
        "topic": sources.topic.name if sources.topic else None,
        "database": str(getattr(sources.database, "name", sources.database)) if sources.database else None,
        "options": {"least_sources": LEAST_SOURCES, "topic_share": TOPIC_SHARE, **EXCLUSION},
        "pages": {"read": len(pages), "excluded": len(excluded), "learnt_from": len(kept)},
        "samples": {name: _by_class(group) for name, group in samples.items()},
        "words": len(model.features),
        "licence": LICENCE if sources.urls else "",
        "excluded_pages": excluded,
    }
    write_bayes(replace(model, made=made), out)
    return {**made, "excluded_pages": len(excluded), "out": str(out)}


def file_samples(
    pages: Sequence[tuple[Document, str]], rows: Sequence[LabelledLink], sources: Sources = _NOTHING
) -> tuple[list[Sample], list[Sample]]:
    """Return the samples of labelled pages' links, and those of labelled addresses.

    For a topic of the directory the pages' labels are ignored: the targets of their links decide.
    """
    topic = sources.topic
    domains = topic_authorities(topic, sources.other_topics) if topic else authorities(pages, rows)
    return list(page_samples([page for page, _ in pages], domains)), list(row_samples(rows, domains))


def without_worlds(
    pages: Sequence[tuple[Document, str]], worlds: Sequence[Path], text_of: TextOf
) -> tuple[list[tuple[Document, str]], list[str]]:
    """Return (the pages that are in none of the recorded webs, the addresses of the others, sorted)."""
    standing = contained([page.text for page, _ in pages], worlds, text_of)
    kept = [page for i, page in enumerate(pages) if i not in standing]
    return kept, sorted(pages[i][0].url.address for i in standing)


def read_documents(path: Path, document_of: DocumentOf) -> Iterator[tuple[Document, str]]:
    """Yield (page, label) of JSON lines. Raises UsageError, naming the line, and EnvironmentFault."""
    for number, line in enumerate(io.StringIO(read_text(path)), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield document_of(row["url"], row["html"]), str(row["label"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{path}, line {number}: expected a JSON object with url, label and html ({described(error)})"
            ) from error


def _lexicon(sources: Sources) -> tuple[str, ...]:
    return domain_lexicon() if sources.keywords is None else topic_lexicon(sources.keywords)


def _by_class(samples: Iterable[Sample]) -> dict[str, int]:
    counts = Counter(sample.positive for sample in samples)
    return {"positive": counts[True], "negative": counts[False]}
