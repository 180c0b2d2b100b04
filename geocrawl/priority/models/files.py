"""Read and write the models of words (topic keywords, link keywords, text vectors), and locate the shipped ones."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from geocrawl.priority.models.json_file import Format, malformed, read_model, write_model
from geocrawl.priority.topics.link_relevance import LinkModel
from geocrawl.priority.topics.topic_vectors import TopicModel
from geocrawl.priority.vectors.tfidf import TextModel

TOPIC_FILE, LINKS_FILE, VECTORS_FILE = "gws_topic.json", "gws_links.json", "topic_vectors.json"
"""Names of the models' files in a folder of models."""
_TOPIC = Format("geocrawl-topic-model", "geocrawl train topic")
_LINKS = Format("geocrawl-link-model", "geocrawl train links")
_VECTORS = Format("geocrawl-text-model", "geocrawl train vectors")


def shipped_models() -> Path:
    """Return the folder of the models that come with geocrawl."""
    return Path(str(resources.files("geocrawl").joinpath("data/models")))


def read_topic(path: Path) -> TopicModel:
    """Return the topic model in `path`. Raises EnvironmentFault if unreadable, UsageError if not a model."""
    data = read_model(path, _TOPIC)
    try:
        vectors = {
            str(language): {str(word).lower(): float(weight) for word, weight in vector.items()}
            for language, vector in data["vectors"].items()
        }
        weights = [weight for vector in vectors.values() for weight in vector.values()]
        if not weights or not all(0.0 < weight < float("inf") for weight in weights):
            raise ValueError("a topic needs keywords, each with a weight above 0")
        return TopicModel(vectors, dict(data["made"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, _TOPIC, error) from error


def read_links(path: Path) -> LinkModel:
    """Return the link model in `path`. Raises EnvironmentFault if unreadable, UsageError if not a model."""
    data = read_model(path, _LINKS)
    try:
        keywords = {str(language): _words(words) for language, words in data["keywords"].items()}
        return LinkModel(keywords, _words(data["abbreviations"]), dict(data["made"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, _LINKS, error) from error


def write_topic(model: TopicModel, path: Path) -> None:
    """Write a model to `path`. Raises EnvironmentFault when `path` cannot be written."""
    write_model(path, _TOPIC, {"vectors": model.vectors, "made": model.made})


def write_links(model: LinkModel, path: Path) -> None:
    """Write a model to `path`. Raises EnvironmentFault when `path` cannot be written."""
    words = {"keywords": model.keywords, "abbreviations": model.abbreviations}
    write_model(path, _LINKS, {**words, "made": model.made})


def read_vectors(path: Path) -> TextModel:
    """Return the text model in `path`. Raises EnvironmentFault if unreadable, UsageError if not a model."""
    data = read_model(path, _VECTORS)
    try:
        idf = _weights(data["idf"])
        topics = {str(language): _weights(vector) for language, vector in data["topics"].items()}
        if not topics:
            raise ValueError("a text model needs a topic")
        return TextModel(
            idf,
            topics,
            threshold=float(data["threshold"]),
            typical=float(data["typical"]),
            made=dict(data["made"]),
            percentiles=[float(score) for score in data.get("percentiles", ())],
            selections={str(name): _words(terms) for name, terms in data.get("selections", {}).items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, _VECTORS, error) from error


def write_vectors(model: TextModel, path: Path) -> None:
    """Write a model to `path`. Raises EnvironmentFault when `path` cannot be written."""
    thresholds = {"threshold": model.threshold, "typical": model.typical}
    topics = {
        language: {term: round(weight, 4) for term, weight in vector.items()}
        for language, vector in model.topics.items()
    }
    learnt = {"topics": topics, "idf": model.idf, "percentiles": model.percentiles, "selections": model.selections}
    write_model(path, _VECTORS, {**thresholds, "made": model.made, **learnt})


def _weights(value: Mapping[str, object]) -> dict[str, float]:
    weights = {str(term): float(str(weight)) for term, weight in value.items()}
    if not weights or not all(0.0 < weight < float("inf") for weight in weights.values()):
        raise ValueError("a vector needs terms, each with a weight above 0")
    return weights


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.strip() for word in value):
        raise ValueError("expected a list of words")
    return tuple(word.lower() for word in value)
