"""Read and write the directory of topics for crawls (SkyReach, topic choice): two levels, sample texts, seeds.

Shipped topics are in `geocrawl/data/topics/GROUP/NAME.toml`. A user's own topics are in the same form in the user's
folder, and replace shipped ones of the same name. A topic is learnt from its sample texts, as in the paper; the default
topic has a model that was trained on many pages.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from geocrawl.config import user_folder
from geocrawl.errors import EnvironmentFault, UsageError, described
from geocrawl.files import write_whole
from geocrawl.priority.nearness import TopicModel
from geocrawl.priority.options import did_you_mean
from geocrawl.priority.text_terms import TextModel, content_words, language_of, mean, term_counts, tf_idf
from geocrawl.urls.database import DatabaseUrl

DEFAULT_TOPIC = "geoservices/wms"
MAX_SEEDS = 50
"""Most seeds of a topic (SkyReach)."""
PIECE_CHARS = 400
"""A sample text is cut at its line ends into pieces of about this length, each a vector."""
TOPIC_TERMS = 400
KEYWORDS = 10
"""Number of keywords for each language, for gws (its n)."""
LEAST_THRESHOLD, ALONE_TYPICAL = 0.03, 0.1
"""The lowest threshold, and the typical score of a text of one piece, which has no others to compare with (ours)."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*")
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), 127), " ")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: its name, sample texts and seeds."""

    name: str
    """group/name"""
    title: str
    texts: tuple[str, ...]
    seeds: tuple[str, ...] = ()
    seeds_source: str = ""
    """Source of the seeds, with the licence to name."""
    shipped_model: bool = False
    """Whether the trained text model is for this topic; the texts then only describe the topic."""
    own: bool = False
    """Whether the topic is from the user's folder."""


# --------------------------------------------------------------------------- the directory


def topics_folder() -> Path | None:
    """Return the folder of the user's own topics; None for a user without a home."""
    try:
        return user_folder("data", os.environ) / "topics"
    except EnvironmentFault:
        return None


def all_topics(own: Path | None = None) -> dict[str, Topic]:
    """Return name → topic, in the order of the names: shipped topics and those in the folder `own`.

    Raises UsageError for a file that is no topic, EnvironmentFault for a file that cannot be read.
    """
    topics = {topic.name: topic for topic in _read_folder(_shipped_folder(), own=False)}
    if own is not None and own.is_dir():
        topics.update((topic.name, topic) for topic in _read_folder(own, own=True))
    return dict(sorted(topics.items()))


def find_topic(name: str, own: Path | None = None) -> Topic:
    """Return the topic called `name`. Raises UsageError, which names a similar one, for an unknown topic."""
    topics = all_topics(own)
    if name not in topics:
        raise UsageError(f"unknown topic {name!r}{did_you_mean(name, topics)} (geocrawl topics list shows all)")
    return topics[name]


def demand_topic(name: str, database: DatabaseUrl) -> None:
    """Raise UsageError when the topic for which a database was crawled has been removed."""
    try:
        find_topic(name, topics_folder())
    except UsageError as error:
        raise UsageError(
            f"{database}: was crawled for the topic {name}, which no longer exists; restore it with "
            f"`geocrawl topics add {name} --text FILE --seeds FILE`, or name another with --topic "
            "(`geocrawl topics list` lists them)"
        ) from error


def write_topic(topic: Topic, own: Path) -> Path:
    """Write a topic to the user's folder and return its file.

    Raises UsageError for a name that is not GROUP/NAME or a topic without text, EnvironmentFault when it cannot be
    written.
    """
    if not _NAME.fullmatch(topic.name):
        raise UsageError(f"topic {topic.name!r}: expected GROUP/NAME in small letters, such as environment/soil")
    if not _pieces(topic.texts):
        raise UsageError(f"topic {topic.name}: the sample texts contain no words")
    path = own / f"{topic.name}.toml"
    fields = {"title": topic.title, "seeds_source": topic.seeds_source}
    lines = [f"{key} = {_quoted(value)}" for key, value in fields.items()]
    for key, values in (("texts", topic.texts), ("seeds", topic.seeds)):
        lines += [f"{key} = [", *(f"  {_quoted(value)}," for value in values), "]"]
    write_whole(path, "\n".join(lines) + "\n")
    return path


def _quoted(text: str) -> str:
    """Return a TOML string: a JSON string except for control characters."""
    return json.dumps(text.translate(_CONTROLS), ensure_ascii=False)


def _shipped_folder() -> Path:
    return Path(str(resources.files("geocrawl").joinpath("data/topics")))


def _read_folder(folder: Path, *, own: bool) -> Iterable[Topic]:
    for path in sorted(folder.glob("*/*.toml")):
        yield _read(path, f"{path.parent.name}/{path.stem}", own=own)


def _read(path: Path, name: str, *, own: bool) -> Topic:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return Topic(
            name,
            str(data["title"]),
            tuple(map(str, data["texts"])),
            tuple(map(str, data.get("seeds", ())))[:MAX_SEEDS],
            str(data.get("seeds_source", "")),
            bool(data.get("shipped_model", False)) and not own,
            own,
        )
    except OSError as error:
        raise EnvironmentFault(f"the topic {path} cannot be read: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no topic ({described(error)}); it needs title and texts") from error


# --------------------------------------------------------------------------- models of a topic


def text_model(topic: Topic, base: TextModel) -> TextModel:
    """Return the text model of a topic:

    one vector for each language, in the vocabulary of `base` and of the sample texts. A word of the sample texts that
    is not in `base` has the weight of the rarest word in `base`.

    The threshold is half the lowest similarity of a piece of text with the others of its language (pages are less about
    a topic than samples), no higher than that of `base`; the typical score is their median. Raises UsageError when the
    texts contain no words.
    """
    if topic.shipped_model:
        return base
    pieces = _pieces(topic.texts)
    if not pieces:
        raise UsageError(f"topic {topic.name}: the sample texts contain no words")
    rarest = max(base.idf.values())
    idf = {**{term: rarest for counts in pieces for term in counts[1]}, **base.idf}
    by_language: dict[str, list[dict[str, float]]] = defaultdict(list)
    for language, counts in pieces:
        by_language[language].append(tf_idf(counts, idf))
    scores = sorted(score for vectors in by_language.values() for score in _against_the_others(vectors))
    return TextModel(
        idf,
        {language: _heaviest(mean(vectors)) for language, vectors in by_language.items()},
        threshold=min(max(scores[0] / 2, LEAST_THRESHOLD), base.threshold) if scores else LEAST_THRESHOLD,
        typical=scores[len(scores) // 2] if scores else ALONE_TYPICAL,
        made={"how": "from the sample texts of a topic", "topic": topic.name, "pieces": len(pieces)},
    )


def keyword_model(topic: Topic, model: TextModel) -> TopicModel:
    """Return a topic's keywords for gws: the ten words of each language's sample texts with the highest TF-IDF."""
    by_language: dict[str, Counter[str]] = defaultdict(Counter)
    for text in topic.texts:
        language = language_of(text)
        by_language[language].update(term_counts(text) if language == "ja" else content_words(text))
    rarest = max(model.idf.values())
    vectors = {}
    for language, words in by_language.items():
        weights = {
            word: count * model.idf.get(term, rarest)
            for word, count in words.items()
            if (term := next(iter(term_counts(word)), word)) and len(word) > 1
        }
        chosen = sorted(weights, key=lambda word: (-weights[word], word))[:KEYWORDS]
        length = math.sqrt(sum(weights[word] ** 2 for word in chosen))
        vectors[language] = {word: weights[word] / length for word in chosen}
    return TopicModel(vectors, {"how": "from the sample texts of a topic", "topic": topic.name})


def _pieces(texts: Sequence[str]) -> list[tuple[str, Mapping[str, int]]]:
    """Return (language, terms) of each piece of the texts that contains terms."""
    pieces: list[tuple[str, Mapping[str, int]]] = []
    for text in texts:
        for piece in _cut(text):
            counts = term_counts(piece)
            if counts:
                pieces.append((language_of(piece), counts))
    return pieces


def _cut(text: str) -> Iterable[str]:
    piece = ""
    for line in text.splitlines():
        piece = f"{piece}\n{line}"
        if len(piece) >= PIECE_CHARS:
            yield piece
            piece = ""
    yield piece


def _against_the_others(vectors: Sequence[dict[str, float]]) -> list[float]:
    """Return the similarity of each vector with the mean of the others; empty for a single vector."""
    scores = []
    for i, vector in enumerate(vectors):
        others = [*vectors[:i], *vectors[i + 1 :]]
        if others:
            model = TextModel({}, {"": _heaviest(mean(others))}, threshold=0.0, typical=0.0)
            scores.append(model.nearness(vector))
    return scores


def _heaviest(vector: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(vector.items(), key=lambda item: (-item[1], item[0]))[:TOPIC_TERMS])
