"""Crawl the recorded webs with classifiers that differ in their training data alone."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from geocrawl.lab.contest.contest import Plan, run_contest
from geocrawl.priority.models.naive_bayes import BayesModel, write_bayes

FIGURES = ("pages", "found", "harvest_rate", "discovery_rate", "area")


def crawl_with(models: Mapping[str, BayesModel], worlds: Sequence[Path], budget: int) -> dict[str, object]:
    """World → classifier → figures after `budget` pages; "…, learning" goes on learning, bfs and gws stand beside."""
    table: dict[str, dict[str, object]] = {world.name: {} for world in worlds}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, model) in enumerate(models.items()):
            file = Path(folder) / f"{number}.json"
            write_bayes(replace(model, made={"how": name}), file)
            for suffix, online in (("", "false"), (", learning", "true")):
                chosen = {"bayes.model": str(file), "bayes.online": online}
                _enter(table, Plan(worlds, ["bayes"], budget, set=chosen), name + suffix)
    _enter(table, Plan(worlds, ["gws", "bfs"], budget), "")
    return dict(table)


def _enter(table: dict[str, dict[str, object]], plan: Plan, name: str) -> None:
    for row in run_contest(plan, lambda line: None).rows():
        figures = {figure: getattr(row, figure) for figure in FIGURES}
        table[row.world][name or row.strategy] = {
            figure: round(value, 4) if isinstance(value, float) else value for figure, value in figures.items()
        }


def as_page_model(pages: BayesModel) -> BayesModel:
    """A classifier that was trained on pages, for links: a word counts the same in the anchor and beside it."""
    words = {feature.partition(" ")[2]: counts for feature, counts in pages.features.items()}
    features = {f"{where} {word}": counts for where in ("anchor", "context") for word, counts in words.items()}
    return replace(pages, with_context=(pages.positive, pages.negative), features=features)
