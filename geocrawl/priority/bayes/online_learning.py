"""Learn from the crawl's own finds: links that led to a verified service within two hops are positive samples.

The result of following a link is known late, so every ranked link is remembered with its features. When its page is
visited the link counts as negative, because it has led to nothing yet; when a valid service is found on that page or
one link behind it, the link becomes positive. All this depends on the sequence of feedback alone. Memory is bounded:
the oldest links are forgotten first, and beyond `MAX_FEATURES` no new word is counted.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from geocrawl.errors import UsageError
from geocrawl.model import Feedback, Link, Purpose, State

VERSION = 1
HOPS = 2
"""Links before a service that are counted as positive (Han et al. 2010: within a hop or two)."""
MAX_LINKS = 20_000
MAX_FEATURES = 50_000
MAX_PACKED_BYTES = 20_000
_PACKED_LINKS, _PACKED_FEATURES = 500, 24
"""Most links of a page, and most features of a link, that are packed."""
_WAITING, _NEGATIVE, _POSITIVE = 0, 1, 2


@dataclass(slots=True)
class _Link:
    """A link that is remembered, with its features and its label so far."""

    found_on: int
    label: int
    features: list[str]


@dataclass(slots=True)
class Experience:
    """Counts of the crawl's own samples, and the links whose label may still change."""

    positive: int = 0
    negative: int = 0
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Feature → samples of + and of − that have it."""
    unrevised: int = 0
    """Number of feedbacks since links were last reranked."""
    _links: dict[int, _Link] = field(default_factory=dict)

    def learn(self, feedback: Feedback, score: Callable[[Sequence[str]], float]) -> bool:
        """Learn from one feedback and return True when the counts have changed.

        `score` decides which of two contexts of a link is better.
        """
        self.unrevised += 1
        samples = (self.positive, self.negative)
        if feedback.purpose is Purpose.PAGE:
            self._visited(feedback, score)
        elif feedback.purpose is Purpose.PROBE and feedback.valid:
            self._found(feedback.found_on)
        return samples != (self.positive, self.negative)

    def waiting(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (frontier id, features) of the remembered links that were not visited."""
        return ((number, link.features) for number, link in self._links.items() if link.label == _WAITING)

    def _visited(self, feedback: Feedback, score: Callable[[Sequence[str]], float]) -> None:
        own = self._links.get(feedback.entry_id)
        noted = unpack_features(feedback.features)
        for identity, number in feedback.links:
            # A redirect's target has no anchor of its own: it gets the features of the link to the redirect.
            features = noted.get(_short(identity)) if feedback.features else own.features if own else None
            if features is not None and number != feedback.entry_id:
                self._remember(number, feedback.entry_id, features, score)
        if own is not None and own.label == _WAITING and feedback.state is State.VISITED:
            own.label = _NEGATIVE
            self.negative += 1
            self._count(own.features, 0, 1)

    def _remember(
        self, number: int, found_on: int, features: list[str], score: Callable[[Sequence[str]], float]
    ) -> None:
        known = self._links.get(number)
        if known is None:
            if len(self._links) >= MAX_LINKS:
                del self._links[next(iter(self._links))]
            self._links[number] = _Link(found_on, _WAITING, features)
        elif known.label == _WAITING and features != known.features and score(features) > score(known.features):
            known.found_on, known.features = found_on, features

    def _found(self, page: int | None) -> None:
        """Count the links that led to `page`, on which a valid service was found, as positive samples."""
        for _ in range(HOPS):
            link = self._links.get(page) if page is not None else None
            if link is None:
                return
            if link.label == _NEGATIVE:
                self.negative -= 1
                self.positive += 1
                self._count(link.features, 1, -1)
                link.label = _POSITIVE
            page = link.found_on

    def _count(self, features: Sequence[str], plus: int, minus: int) -> None:
        for feature in features:
            if feature in self.counts or len(self.counts) < MAX_FEATURES:
                before = self.counts.get(feature, (0, 0))
                self.counts[feature] = (max(before[0] + plus, 0), max(before[1] + minus, 0))

    # ------------------------------------------------------------------ kept over restarts

    def dump(self) -> bytes:
        """Return all counts and remembered links as compressed JSON, for `load`."""
        words: dict[str, int] = {}
        links = [
            (number, each.found_on, each.label, [words.setdefault(f, len(words)) for f in each.features])
            for number, each in self._links.items()
        ]
        state = {
            "version": VERSION,
            "samples": [self.positive, self.negative],
            "unrevised": self.unrevised,
            "counts": self.counts,
            "words": list(words),
            "links": links,
        }
        return zlib.compress(json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode(), 6)

    @classmethod
    def load(cls, state: bytes) -> Experience:
        """Return the experience that `dump` wrote. Raises UsageError for a dump of another version."""
        try:
            data = json.loads(zlib.decompress(state))
            if data["version"] != VERSION:
                raise ValueError(f"version {data['version']}, not {VERSION}")
            words, (positive, negative) = data["words"], data["samples"]
            counts = {feature: (plus, minus) for feature, (plus, minus) in data["counts"].items()}
            links = {
                number: _Link(page, label, [words[i] for i in each]) for number, page, label, each in data["links"]
            }
            return cls(positive, negative, counts, data["unrevised"], links)
        except (KeyError, IndexError, TypeError, ValueError, zlib.error) as error:
            raise UsageError(
                f"what bayes had learnt in this database cannot be restored ({error}); crawl on with --strategy "
                "bayes --set bayes.online=false"
            ) from error


# --------------------------------------------------------------------------- features of a page's links


def pack_features(links: Sequence[Link], features: Sequence[Sequence[str]]) -> bytes:
    """Return the features of a page's first links, packed for its feedback; at most `MAX_PACKED_BYTES`."""
    words: dict[str, int] = {}
    noted: dict[str, list[int]] = {}
    for link, each in zip(links, features, strict=True):
        if len(noted) >= _PACKED_LINKS:
            break
        known = noted.setdefault(_short(link.url.identity), [])
        known += [words.setdefault(f, len(words)) for f in each[: _PACKED_FEATURES - len(known)]]
    while True:
        packed = zlib.compress(json.dumps([list(words), noted], ensure_ascii=False, separators=(",", ":")).encode(), 1)
        if len(packed) <= MAX_PACKED_BYTES:
            return packed
        noted = dict(list(noted.items())[: len(noted) // 2])
        words = dict.fromkeys(list(words)[: max((i for each in noted.values() for i in each), default=-1) + 1], 0)


def unpack_features(packed: bytes) -> dict[str, list[str]]:
    """Return the short name of a link's identity → its features; empty for b""."""
    if not packed:
        return {}
    words, noted = json.loads(zlib.decompress(packed))
    return {name: list(dict.fromkeys(words[i] for i in each)) for name, each in noted.items()}


def _short(identity: str) -> str:
    return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
