"""Read and write the models of words (topic keywords, link keywords, text vectors), and locate the shipped ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from geocrawl.errors import EnvironmentFault, UsageError, described
from geocrawl.files import write_whole
from geocrawl.priority.nearness import LinkModel, TopicModel
from geocrawl.priority.text_terms import TextModel


@dataclass(frozen=True, slots=True)
class Format:
    """The format and version in a model's file, so that no file is mistaken for another."""

    name: str
    trained_by: str
    """The command that makes such a model, for messages."""
    version: int = 1


def read_model(path: Path, form: Format) -> dict[str, Any]:
    """Return the model in `path`.

    Raises EnvironmentFault when it cannot be read, UsageError for another format or version.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise EnvironmentFault(f"the model {path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"the model {path} is not JSON ({error}); train it again with {form.trained_by}") from error
    if not isinstance(data, dict) or data.get("format") != form.name:
        raise UsageError(f"{path} is no {form.name}; train one with {form.trained_by}")
    if data.get("version") != form.version:
        raise UsageError(
            f"the model {path} has version {data.get('version')}, this geocrawl reads {form.version}; train it again "
            f"with {form.trained_by}"
        )
    return data


def malformed(path: Path, form: Format, error: Exception) -> UsageError:
    """Return the error to raise when a part of the model is missing or of another type."""
    detail = f"{described(error)}"
    return UsageError(f"the model {path} is malformed ({detail}); train it again with {form.trained_by}")


def write_model(path: Path, form: Format, data: Mapping[str, object]) -> None:
    """Write a model, and make its folder. Raises EnvironmentFault when `path` cannot be written."""
    whole = {"format": form.name, "version": form.version, **data}
    write_text(path, json.dumps(whole, ensure_ascii=False, indent=2))


def write_text(path: Path, text: str) -> None:
    """Write a model that is already JSON text. Raises EnvironmentFault when `path` cannot be written."""
    write_whole(path, text + "\n")


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
        vectors, standard = _topic_vectors(data["vectors"]), _topic_vectors(data.get("standard", {}))
        if not any(vectors.values()):
            raise ValueError("a topic needs keywords, each with a weight above 0")
        return TopicModel(vectors, dict(data["made"]), standard)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, _TOPIC, error) from error


def read_links(path: Path) -> LinkModel:
    """Return the link model in `path`. Raises EnvironmentFault if unreadable, UsageError if not a model."""
    data = read_model(path, _LINKS)
    try:
        keywords = {str(language): _words(words) for language, words in data["keywords"].items()}
        standard = {str(language): _words(words) for language, words in data.get("standard", {}).items()}
        wider = _words(data.get("wider", []))
        return LinkModel(keywords, _words(data["abbreviations"]), dict(data["made"]), standard, wider)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, _LINKS, error) from error


def write_topic(model: TopicModel, path: Path) -> None:
    """Write a model to `path`. Raises EnvironmentFault when `path` cannot be written."""
    write_model(path, _TOPIC, {"vectors": model.vectors, "standard": model.standard, "made": model.made})


def write_links(model: LinkModel, path: Path) -> None:
    """Write a model to `path`. Raises EnvironmentFault when `path` cannot be written."""
    keywords = {"keywords": model.keywords, "standard": model.standard}
    some = {"abbreviations": model.abbreviations, "wider": model.wider}
    write_model(path, _LINKS, {**keywords, **some, "made": model.made})


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


def _topic_vectors(value: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, float]]:
    return {
        str(language): {word.lower(): weight for word, weight in _weights(vector).items()}
        for language, vector in value.items()
    }


def _weights(value: Mapping[str, object]) -> dict[str, float]:
    weights = {str(term): float(str(weight)) for term, weight in value.items()}
    if not weights or not all(0.0 < weight < float("inf") for weight in weights.values()):
        raise ValueError("a vector needs terms, each with a weight above 0")
    return weights


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.strip() for word in value):
        raise ValueError("expected a list of words")
    return tuple(word.lower() for word in value)
