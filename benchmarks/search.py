"""The search: right answers to queries as people type them, and its latency in catalogues of 1,000 to 100,000 services.

Queries and their right answers are in `search_queries.toml`; a fixed seed sets half of each kind aside, which were not
looked at while the search was tuned. The catalogue has made services with a known theme and place, in four languages,
and recorded ones where `../shared` is. `search_more_queries.toml` asks for services that `search_services.txt` adds to
it; a third of each kind is set aside. `search_compounds.toml` asks for words that stand within longer ones.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import large_catalogues
from benchmarks.judged_catalogue import Truth, add_written, fill
from geocrawl.store import Store
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.search.engine import SearchEngine
from tests.support.places import shared_folder

QUERIES = Path(__file__).with_name("search_queries.toml")
MORE_QUERIES = QUERIES.with_name("search_more_queries.toml")
COMPOUNDS = QUERIES.with_name("search_compounds.toml")
SEED = 20261122
GOAL_AT_1, GOAL_MRR = 0.88, 0.90
_LOOKED_AT = 20


class Asked(NamedTuple):
    """A query with the place of its first right answer."""

    kind: str
    text: str
    rank: int
    """0: none among the first 20."""
    is_empty: bool
    first: str
    """Title of the first hit."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add which queries, and the sizes of the catalogues for latency."""
    parser.add_argument("--tune", action="store_true", help="only the half for tuning, with every miss")
    parser.add_argument("--sizes", default="1000,10000,100000", help="services of the catalogues for latency")
    parser.add_argument("--folder", type=Path, help="keep the large catalogues here, or use those that are here")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Ask all queries, and measure latencies (with facets)."""
    halves, truths = _judged(tuning_alone=options.tune)
    figures: dict[str, Any] = {name: _figures(asked) for name, asked in halves.items()}
    seen = halves if options.tune else {name: halves[name] for name in ("set_aside", "more_set_aside", "compounds")}
    figures["misses"] = {name: [each._asdict() for each in asked if each.rank != 1] for name, asked in seen.items()}
    figures["goals"] = {"hit_at_1": GOAL_AT_1, "mrr": GOAL_MRR, "empty": 0, "p95_ms_at_100000": 100}
    if not options.tune:
        figures["catalogue"] = {"services": len(truths), "recorded": sum(bool(each.text) for each in truths.values())}
        sizes = [int(size) for size in options.sizes.split(",") if size]
        figures["latency"] = large_catalogues.latencies(sizes, options.folder)
    return figures


def _judged(*, tuning_alone: bool) -> tuple[dict[str, list[Asked]], dict[int, Truth]]:
    """Ask all queries, or those for tuning; return the answers by name, and the truth of all services."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "search.db"
        truths = fill(path, shared_folder())
        tuned, aside = halves(tomllib.loads(QUERIES.read_text("utf-8")))
        parts = _asked(path, {"tuning": tuned} if tuning_alone else {"tuning": tuned, "set_aside": aside}, truths)
        truths |= add_written(path)
        more = tomllib.loads(MORE_QUERIES.read_text("utf-8"))
        tuned, aside = halves(more, of=3)
        asked = {"more_tuning": tuned} if tuning_alone else {"more_tuning": tuned, "more_set_aside": aside}
        asked["compounds"], never = compounds()
        with Store.open_readonly(path) as connection:
            engine = search_engine(connection)
            wrong = [text for text, keys in never.items() if finds_any(engine, text, keys, truths)]
        print(f"   finds what it must not: {', '.join(wrong) or 'nothing'}")
        return parts | _asked(path, asked, truths), truths


def _asked(
    path: Path, parts: Mapping[str, Sequence[tuple[str, str, str]]], truths: Mapping[int, Truth]
) -> dict[str, list[Asked]]:
    with Store.open_readonly(path) as connection:
        engine = search_engine(connection)
        return {name: _ask(engine, part, truths) for name, part in parts.items()}


def halves(
    queries: Mapping[str, Mapping[str, str]], of: int = 2
) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """Return (kind, query, right answer) for tuning, and those set aside: one of so many of each kind."""
    halves: tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]] = [], []
    for kind, each in queries.items():
        rows = [(kind, text, right) for text, right in each.items()]
        random.Random(f"{SEED} {kind}").shuffle(rows)
        for number, row in enumerate(rows):
            halves[number % of == of - 1].append(row)
    return halves


def compounds() -> tuple[list[tuple[str, str, str]], dict[str, list[str]]]:
    """Return (kind, query, right answer) of `search_compounds.toml`, and queries with keys that they must not find."""
    queries = tomllib.loads(COMPOUNDS.read_text("utf-8"))
    never = {text: keys.split() for text, keys in queries.pop("never").items()}
    return [(kind, text, right) for kind, each in queries.items() for text, right in each.items()], never


def finds_any(engine: SearchEngine, text: str, keys: Sequence[str], truths: Mapping[int, Truth]) -> bool:
    """Return whether a query finds one of the written services with some keys."""
    return any(truths[number].name in keys for number in engine.numbers(text))


def _ask(engine: SearchEngine, queries: Sequence[tuple[str, str, str]], truths: Mapping[int, Truth]) -> list[Asked]:
    asked = []
    for kind, text, right in queries:
        if not any(is_right(truth, right) for truth in truths.values()):
            raise SystemExit(f"{text!r}: the catalogue has no right answer ({right})")
        hits = engine.search(text, limit=_LOOKED_AT).hits
        # Twins of a hit are shown with it.
        of_hits = [[truths[number] for number in (hit.id, *(twin.id for twin in hit.twin_services))] for hit in hits]
        ranks = [n for n, found in enumerate(of_hits, 1) if any(is_right(truth, right) for truth in found)]
        asked.append(Asked(kind, text, ranks[0] if ranks else 0, not hits, hits[0].title if hits else ""))
    return asked


def is_right(truth: Truth, rights: str) -> bool:
    """Return whether a service is what one of the alternatives of a right answer says."""
    return any(_is_one(truth, right) for right in rights.split(" | "))


def _is_one(truth: Truth, right: str) -> bool:
    """Return whether a service is what one alternative of `search_queries.toml` says."""
    pattern = re.search(r"~([^#@]+)", right)
    themes = re.findall(r"(?<![~#@\w])[a-z]+/\d", right)
    places, kinds = re.findall(r"@(\S+)", right), re.findall(r"#(\S+)", right)
    if re.fullmatch(r"[\w-]+", right):
        return truth.name == right
    return (
        (not pattern or bool(truth.text and re.search(pattern[1].strip(), truth.text, re.I)))
        and (not themes or truth.theme in themes)
        and (not places or truth.place in places)
        and (not kinds or truth.kind in kinds)
    )


def _figures(asked: Sequence[Asked]) -> dict[str, Any]:
    kinds = dict.fromkeys(each.kind for each in asked)
    return {"all": _row(asked)} | {kind: _row([each for each in asked if each.kind == kind]) for kind in kinds}


def _row(asked: Sequence[Asked]) -> dict[str, Any]:
    return {
        "queries": len(asked),
        "hit_at_5": round(sum(0 < each.rank <= 5 for each in asked) / len(asked), 3),
        "hit_at_1": round(sum(each.rank == 1 for each in asked) / len(asked), 3),
        "mrr": round(sum(1 / each.rank for each in asked if each.rank) / len(asked), 3),
        "empty": sum(each.is_empty for each in asked),
    }
