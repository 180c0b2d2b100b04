"""Judge pages by a fixed classifier: a second opinion on relevance that no strategy uses or can be tuned to.

Bernoulli Naive Bayes (McCallum and Nigam 1998) over the words of title and text: about OGC services, or not. It was
trained on labelled single pages that are not in the recorded worlds; the model's record lists the files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.priority.models import Format, malformed, read_model, shipped_models, write_model
from geocrawl.priority.text_terms import content_words

JUDGE_FILE = "page_judge.json"
_FORMAT = Format("geocrawl-page-judge", "python -m geocrawl.lab.training.page_judge")
FEATURES = 30
"""Number of words in the model: those with the highest information gain. With more words the model learns sites, not
the topic: of 299 held-out pages it classified 278 correctly with 30 words, 232 with 300.
"""
LEAST_PAGES = 3
"""A word that occurs in fewer training pages is left out."""


@dataclass(frozen=True, slots=True)
class PageJudge:
    """A model of the log odds of a page: `bias` plus the weight of each word that the page contains."""

    weights: Mapping[str, float]
    bias: float
    made: Mapping[str, object]

    def score(self, title: str, text: str) -> float:
        """Return the log odds that the page is about OGC services."""
        words = set(content_words(f"{title} {text}"))
        return self.bias + sum(self.weights.get(word, 0.0) for word in words)

    def is_relevant(self, title: str, text: str) -> bool:
        """Return whether the page is more likely about OGC services than not."""
        return self.score(title, text) > 0.0


def train(pages: Iterable[tuple[str, str, bool]], made: Mapping[str, object]) -> PageJudge:
    """Learn from (title, text, relevant). Raises UsageError when one class is empty."""
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    sizes = {True: 0, False: 0}
    for title, text, relevant in pages:
        counts[relevant].update(set(content_words(f"{title} {text}")))
        sizes[relevant] += 1
    if not all(sizes.values()):
        raise UsageError("the judge needs pages that are relevant and pages that are not")
    weights, bias = {}, math.log(sizes[True] / sizes[False])
    for word in _telling(counts, sizes):
        yes = (counts[True][word] + 1) / (sizes[True] + 2)  # Laplace
        no = (counts[False][word] + 1) / (sizes[False] + 2)
        absent = math.log((1 - yes) / (1 - no))
        bias += absent
        weights[word] = round(math.log(yes / no) - absent, 4)
    return PageJudge(weights, round(bias, 4), dict(made))


def _telling(counts: Mapping[bool, Counter[str]], sizes: Mapping[bool, int]) -> list[str]:
    """Return the `FEATURES` words of the highest information gain, ties in alphabetical order."""
    total = sizes[True] + sizes[False]
    words = [w for w in {*counts[True], *counts[False]} if counts[True][w] + counts[False][w] >= LEAST_PAGES]

    def gain(word: str) -> float:
        seen = counts[True][word] + counts[False][word]
        with_, without = counts[True][word], sizes[True] - counts[True][word]
        kept = seen / total * _entropy(with_, seen) + (total - seen) / total * _entropy(without, total - seen)
        return _entropy(sizes[True], total) - kept

    return sorted(words, key=lambda word: (-round(gain(word), 12), word))[:FEATURES]


def _entropy(part: int, whole: int) -> float:
    if part in (0, whole):
        return 0.0
    share = part / whole
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)


def accuracy(judge: PageJudge, pages: Sequence[tuple[str, str, bool]]) -> dict[str, int]:
    """Return the counts `right`, `wrong`, `missed` and `false` over pages given as (title, text, relevant)."""
    result = Counter[str]()
    for title, text, relevant in pages:
        said = judge.is_relevant(title, text)
        result["right" if said == relevant else "wrong"] += 1
        result["missed"] += relevant and not said
        result["false"] += said and not relevant
    return {name: result[name] for name in ("right", "wrong", "missed", "false")}


def read_judge(path: Path | None = None) -> PageJudge:
    """Return the judge in `path`, by default the shipped one. Raises EnvironmentFault or UsageError for a bad file."""
    path = path or shipped_models() / JUDGE_FILE
    data = read_model(path, _FORMAT)
    try:
        return PageJudge(data["weights"], float(data["bias"]), data["made"])
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(path, _FORMAT, error) from error


def write_judge(judge: PageJudge, path: Path) -> None:
    """Write the judge as JSON. Raises EnvironmentFault when `path` cannot be written."""
    write_model(path, _FORMAT, {"bias": judge.bias, "weights": judge.weights, "made": judge.made})
