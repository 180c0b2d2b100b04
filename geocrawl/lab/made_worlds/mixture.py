"""Draw the character of a made web from its seed: everything that differs from seed to seed.

Shares are drawn within the bounds observed on recorded webs. A strategy that is tuned on some seeds and tested on
others thus has to work on webs of several kinds.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geocrawl.lab.made_worlds.seeded_random import seeded_rng
from geocrawl.lab.made_worlds.vocabulary import LANGUAGES, Theme, read_vocabularies, themes

DESIGNS = ("modern", "cards", "table", "definitions", "bare", "boxes", "frames")
WAYS = (
    ("href-getcapabilities", 5.0, 9.0),
    ("href-getmap", 0.5, 2.5),
    ("href-bare", 0.5, 3.0),
    ("text", 0.5, 3.0),
    ("js", 0.4, 1.8),
    ("xml", 0.2, 1.2),
    ("csw-record", 0.1, 0.5),
    ("redirect", 0.2, 0.8),
    ("form", 0.2, 0.8),
    ("sitemap", 0.05, 0.2),
    ("robots-disallowed", 0.05, 0.2),
)
"""Ways of naming a service: least and greatest weight of each."""
_UNCERTAIN = ("portal", "agency", "mixed")
"""Kinds of webs on which some addresses are written so that only a person recognises them."""
FAULTS = ("notfound", "exception", "html200", "auth", "garbage")


@dataclass(frozen=True, slots=True)
class Mixture:
    """The character of one web."""

    vocabularies: Sequence[Theme]
    leisure: Sequence[Theme]
    languages: Mapping[str, float]
    """Weight of each language."""
    designs: Sequence[str]
    ways: Mapping[str, float]
    """Weight of each way of naming a service."""
    broken: float
    """Share of services that do not work."""
    slow: float
    lenient: float
    vague: float
    """Share of anchors that do not say where they lead."""
    titled: float
    """Share of pages with a service whose titles mention the service."""
    spoken: float
    """Share of sites whose addresses contain words."""
    jargon: float
    """Share of the nouns on pages about services that are technical terms."""
    writers: float
    """Share of other sites that write about services and offer none."""
    hidden: float
    """Share of providers that only pages of other topics lead to."""
    traps: float
    """Share of pages that are copies, or generated without end."""
    elsewhere: float
    """Share of services on separate hosts."""
    certain: bool
    """Whether addresses in texts and names of scripts always reveal a service, so that a crawl to its end finds all."""

    def language(self, rng: random.Random) -> str:
        """Return one of the web's languages, drawn by weight."""
        return rng.choices(list(self.languages), list(self.languages.values()))[0]

    def way(self, rng: random.Random) -> str:
        """Return one of the web's ways of naming a service, drawn by weight."""
        return rng.choices(list(self.ways), list(self.ways.values()))[0]

    def behaviour(self, rng: random.Random) -> str:
        """Return the `behaviour` of a service, drawn by weight."""
        share = rng.random()
        for name, part in (("slow", self.slow), ("lenient", self.lenient)):
            if share < part:
                return name
            share -= part
        return rng.choice(FAULTS) if share < self.broken else "valid"


def draw(seed: int, kind: str, names: Sequence[str]) -> Mixture:
    """Return the mixture of a web with the vocabularies `names`, two to five random ones by default.

    Raises UsageError for unknown names.
    """
    rng = seeded_rng("mixture", kind, seed)
    vocabularies = read_vocabularies(names)
    if not names:
        vocabularies = tuple(rng.sample(vocabularies, rng.randint(2, 5)))
    others = [theme for theme in themes().values() if not theme.relevant]
    codes = ["en", *rng.sample(LANGUAGES[1:], rng.randint(1, 3) if kind == "mixed" else rng.randint(0, 1))]
    if kind != "mixed":
        rng.shuffle(codes)
    codes = ["zh"] if kind == "chinese" else codes
    weights = [1.0] + [rng.uniform(0.2, 0.9) if kind == "mixed" else 0.12 for _ in codes[1:]]
    return Mixture(
        vocabularies=vocabularies,
        leisure=tuple(rng.sample(others, rng.randint(4, len(others)))),
        languages=dict(zip(codes, weights, strict=True)),
        designs=tuple(rng.sample(DESIGNS, rng.randint(3, 5))),
        ways={name: rng.uniform(least, most) for name, least, most in WAYS},
        broken=rng.uniform(0.08, 0.2),
        slow=rng.uniform(0.0, 0.02),
        lenient=rng.uniform(0.01, 0.08),
        vague=rng.uniform(0.15, 0.6),
        titled=rng.uniform(0.0, 0.7),
        spoken=rng.uniform(0.2, 0.8),
        jargon=rng.uniform(0.12, 0.4),
        writers=rng.uniform(0.05, 0.2),
        hidden=rng.uniform(0.1, 0.35),
        traps=rng.uniform(0.04, 0.12),
        elsewhere=rng.uniform(0.3, 0.8),
        certain=kind not in _UNCERTAIN,
    )
