"""Provide the ingredients of a strategy: the options that people set, the trained models, and the chosen topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.model import Feedback, Rank
from geocrawl.priority.models import LINKS_FILE, TOPIC_FILE, VECTORS_FILE, read_links, read_topic, read_vectors
from geocrawl.priority.nearness import MOST_WEIGHT, Levels, LinkModel, TopicModel
from geocrawl.priority.text_terms import TextModel
from geocrawl.priority.topics import Topic, keyword_model, text_model


@dataclass(frozen=True, slots=True)
class Ingredients:
    """The argument of `make` in a strategy's module; a model is read from its file when a strategy requests it.

    Each method raises EnvironmentFault when the model's file cannot be read, UsageError when it contains no such model.
    """

    name: str
    """The strategy's name, for a module that makes several."""
    options: Mapping[str, str]
    """STRATEGY.OPTION → text, including those of other strategies (`options.parse_options` selects)."""
    models: Path
    """Folder of the trained models."""
    topic: Topic | None
    """The topic that a person chose; None for the topic that the models were trained on."""
    max_depth: int | None = None
    """Most links from a start page to a page that is visited; None: any number."""

    def text_model(self) -> TextModel:
        """Return the text model (TF-IDF) of the chosen topic, else the trained one."""
        base = read_vectors(self.models / VECTORS_FILE)
        return base if self.topic is None else text_model(self.topic, base)

    def keywords(self, most: float | None = None, *, standard: bool = False) -> TopicModel:
        """Return the keyword vectors of the chosen topic, else the trained ones.

        `most`: cap of a trained keyword's weight (`TopicModel.capped`), None for the default. `standard`: the vectors
        that are chosen among all words of the WMS standard.
        """
        if self.topic is not None:
            return keyword_model(self.topic, self.text_model())
        model = read_topic(self.models / TOPIC_FILE)
        if standard:
            _demand(model.standard, self.models / TOPIC_FILE, "topic")
            model = replace(model, vectors=model.standard)
        return model.capped(MOST_WEIGHT if most is None else most)

    def link_words(self, *, standard: bool = False) -> LinkModel:
        """Return the trained link keywords, which are the same for every topic.

        `standard`: the most frequent words that are no abbreviations, words of ordinary links too; and of level 1
        abbreviations alone.
        """
        model = read_links(self.models / LINKS_FILE)
        if standard:
            _demand(model.standard, self.models / LINKS_FILE, "links")
            model = replace(model, keywords=model.standard, wider=())
        return model

    def levels(self) -> Levels:
        """Return the measure of levels that every strategy shares which has none of its own."""
        return Levels(self.keywords(), self.link_words())


def _demand(standard: Mapping[str, object], path: Path, trained: str) -> None:
    if not standard:
        raise UsageError(f"{path} has no words of the standard; train it again with geocrawl train {trained}")


# --------------------------------------------------------------------------- defaults of strategies
# A strategy overrides only what differs. A strategy that learns overrides `learn`, `revise`, `dump` and `load`
# together: what `learn` adds, `dump` must write and `load` restore.


class Defaults:
    """A strategy that leases one link at a time, needs no optional part of a document, learns nothing, has no state."""

    name: str
    stride: int = 1
    by_depth: bool = False
    by_yield: bool = False
    needs: frozenset[str] = frozenset()
    learns: bool = False

    def learn(self, feedback: Feedback) -> None:
        """Ignore the feedback."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return None: a rank never changes."""
        return None

    def dump(self) -> bytes:
        """Return b"": there is no state."""
        return b""

    def load(self, state: bytes) -> None:
        """Ignore the state."""
