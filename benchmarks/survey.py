"""What makes gws:paper more precise than breadth-first on a survey's site, factor by factor (Shen et al. 4.2).

Both crawlers have the paper's set-up: five links deep, five workers, services recognised by queries alone.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from geocrawl.lab.contest.contest import Plan, in_own_process, jobs, under_setup
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Document, Judgement
from geocrawl.priority import models, nearness
from geocrawl.priority.nearness import Nearness, TopicMeasure, TopicModel, page_vector
from geocrawl.priority.strategies import gws
from tests.support.places import shared_folder

PRESET = "gws:paper"
_WORD = re.compile(r"[^\W\d_]+")


class Factor(NamedTuple):
    """What differs from the preset."""

    name: str
    set: Mapping[str, str] = {}
    all_words: bool = False
    """The page vector has all words of the page, not the keywords alone."""
    prose: bool = False
    """The page vector has the text without the anchors of links."""
    other_topics: bool = False
    """IDF counts pages of other topics, too."""
    strategy: str = PRESET


FACTORS = (
    Factor("the preset"),
    Factor("breadth-first", strategy="bfs"),
    Factor("IDF over pages of other topics, too", other_topics=True),
    Factor("keywords: gws' own, without everyday words", {"gws.standard": "false"}),
    Factor("page vector of all words", all_words=True),
    Factor("page vector without the texts of links", prose=True),
    Factor("level 1 from r = 0.3", {"gws.low": "0.3"}),
    Factor("all words, without the texts of links", all_words=True, prose=True),
    Factor("the same, a seed's page of level 1", {"gws.seed_level": "1"}, all_words=True, prose=True),
    Factor("nothing discarded", {"gws.drop_zero": "false"}),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the web, and which factors."""
    parser.add_argument("--world", default="agency", help="recorded web, or a folder of one [agency]")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of factors, from 0 [all]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return for each factor pages, services, precision, and pages of level 1 or 2; the factor over breadth-first."""
    folder = Path(options.world) if "/" in options.world else shared_folder() / "worlds" / options.world
    plan = under_setup(Plan([folder], [PRESET]), PRESET)
    (job,) = jobs(plan, folder, PRESET, World(folder).pages)
    chosen = [FACTORS[number] for number in options.only or range(len(FACTORS))]
    rows = []
    for factor in chosen:
        own = replace(job, strategy=factor.strategy, set=dict(factor.set) if factor.strategy == PRESET else {})
        rows.append({"factor": factor.name, **in_own_process(partial(_crawled, factor), own)})
        print(f"   {rows[-1]}", flush=True)
    bfs = next((row["precision"] for row in rows if row["factor"] == "breadth-first"), None)
    for row in rows:
        row["over_bfs"] = bfs and round(row["precision"] / bfs, 2)
    return {"world": options.world, "rows": rows}


def _crawled(factor: Factor, job: Job) -> dict[str, Any]:
    """Run one crawl, in a process of its own, whose modules are changed as the factor says."""
    levels = Counter[int]()
    judge = gws.GwsStrategy.judge
    module: Any = nearness
    strategy_class: Any = gws.GwsStrategy
    shipped_by: Any = models

    def counted(strategy: gws.GwsStrategy, document: Document) -> Judgement:
        read = document._replace(text=document.prose) if factor.prose else document
        judgement = judge(strategy, read)
        levels[int(strategy.levels.page(read))] += 1
        return judgement

    strategy_class.judge = counted
    if factor.prose:
        strategy_class.needs = frozenset({"prose"})
    if factor.all_words:
        module.TopicMeasure = _AllWords
    with tempfile.TemporaryDirectory(prefix="geocrawl-survey-") as folder:
        if factor.other_topics:
            shipped = models.shipped_models()
            shutil.copytree(shipped, folder, dirs_exist_ok=True)
            models.write_topic(_other_topics(), Path(folder) / models.TOPIC_FILE)
            shipped_by.shipped_models = lambda: Path(folder)
        score = run(job).score
    near = levels[1] + levels[2]
    share = round(near / levels.total(), 3) if levels else None
    return {"pages": score.pages, "found": score.found, "precision": score.precision, "level_1_or_2": share}


class _AllWords(TopicMeasure):
    """Measures the cosine in the space of all words of a page; a run of Han characters is one word."""

    def nearness(self, title: str, text: str) -> Nearness:
        """Return r, the highest over the languages."""
        share, counted = self._title_weight, dict[str, float]()
        for part, weight in ((title, share), (text, 1.0 - share)):
            words = Counter(_WORD.findall(part.lower()))
            for word, count in words.items():
                counted[word] = counted.get(word, 0.0) + weight * count / len(part)
        squares = sum(value * value for value in counted.values())
        page = page_vector(self._keywords, title, text, share)
        products = (
            (sum(vector.get(word, 0.0) * value for word, value in page.items()), language)
            for language, vector in self._vectors.items()
        )
        product, language = max(products, default=(0.0, ""))
        return Nearness(min(product / squares**0.5, 1.0), language) if product and squares else Nearness(0.0, "")


def _other_topics() -> TopicModel:
    """Return the shipped topic with the IDF of the preset's keywords over all labelled pages."""
    from geocrawl.lab.training.gws_models import standard_keywords, train_topic
    from geocrawl.lab.training.labelled_pages import read_pages
    from geocrawl.lab.training.train import text_of

    shipped = models.read_topic(models.shipped_models() / models.TOPIC_FILE)
    excluded: Any = shipped.made["excluded_pages"]
    pages = read_pages(shared_folder() / "worlds" / "pages.jsonl.gz", text_of)
    kept = [page for page in pages if page.url not in set(excluded)]
    return replace(shipped, standard=train_topic(kept, standard_keywords()).vectors)
