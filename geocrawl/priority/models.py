"""Models as files: readable JSON with the format's version, the words, and the record of how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.priority.links import LinkModel
from geocrawl.priority.topic import TopicModel
from geocrawl.priority.vectors import TextModel

VERSION = 1
_TOPIC, _LINKS = "geocrawl-topic-model", "geocrawl-link-model"
_VECTORS = "geocrawl-text-model"


def shipped_models() -> Path:
    """The folder of the models that come with geocrawl."""
    return Path(str(resources.files("geocrawl").joinpath("data/models")))


def read_topic(path: Path) -> TopicModel:
    """The topic model in `path`. Raises EnvironmentFault when it cannot be read, UsageError when it is none."""
    data = _read(path, _TOPIC)
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
        raise _malformed(path, error) from error


def read_links(path: Path) -> LinkModel:
    """The link model in `path`. Raises EnvironmentFault when it cannot be read, UsageError when it is none."""
    data = _read(path, _LINKS)
    try:
        keywords = {str(language): _words(words) for language, words in data["keywords"].items()}
        return LinkModel(keywords, _words(data["abbreviations"]), dict(data["made"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _malformed(path, error) from error


def write_topic(model: TopicModel, path: Path) -> None:
    """Write the model. Raises EnvironmentFault when `path` cannot be written."""
    _write(path, {"format": _TOPIC, "version": VERSION, "vectors": model.vectors, "made": model.made})


def write_links(model: LinkModel, path: Path) -> None:
    """Write the model. Raises EnvironmentFault when `path` cannot be written."""
    words = {"keywords": model.keywords, "abbreviations": model.abbreviations}
    _write(path, {"format": _LINKS, "version": VERSION, **words, "made": model.made})


def read_vectors(path: Path) -> TextModel:
    """The text model in `path`. Raises EnvironmentFault when it cannot be read, UsageError when it is none."""
    data = _read(path, _VECTORS)
    try:
        idf = _weights(data["idf"])
        topics = {str(language): _weights(vector) for language, vector in data["topics"].items()}
        if not topics:
            raise ValueError("a text model needs a topic")
        threshold, typical = float(data["threshold"]), float(data["typical"])
        return TextModel(idf, topics, threshold=threshold, typical=typical, made=dict(data["made"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _malformed(path, error) from error


def write_vectors(model: TextModel, path: Path) -> None:
    """Write the model. Raises EnvironmentFault when `path` cannot be written."""
    thresholds = {"threshold": model.threshold, "typical": model.typical}
    topics = {
        language: {term: round(weight, 4) for term, weight in vector.items()}
        for language, vector in model.topics.items()
    }
    data = {"format": _VECTORS, "version": VERSION, **thresholds, "made": model.made, "topics": topics}
    _write(path, {**data, "idf": model.idf})


def _weights(value: Mapping[str, object]) -> dict[str, float]:
    weights = {str(term): float(str(weight)) for term, weight in value.items()}
    if not weights or not all(0.0 < weight < float("inf") for weight in weights.values()):
        raise ValueError("a vector needs terms, each with a weight above 0")
    return weights


def _read(path: Path, format_: str) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise EnvironmentFault(f"the model {path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"the model {path} is not JSON ({error}); train it anew with geocrawl train") from error
    if not isinstance(data, dict) or data.get("format") != format_:
        raise UsageError(f"{path} is no {format_}; train one with geocrawl train")
    if data.get("version") != VERSION:
        raise UsageError(
            f"the model {path} has version {data.get('version')}, this geocrawl reads {VERSION}; train it anew"
        )
    return data


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.strip() for word in value):
        raise ValueError("expected a list of words")
    return tuple(word.lower() for word in value)


def _malformed(path: Path, error: Exception) -> UsageError:
    return UsageError(f"the model {path} is malformed ({type(error).__name__}: {error}); train it anew")


def _write(path: Path, data: Mapping[str, object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise EnvironmentFault(f"the model {path} cannot be written: {error.strerror or error}") from error
