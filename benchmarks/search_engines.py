"""The search beside what it could be replaced by: SQLite's FTS5 with bm25(), and tantivy where it is installed.

Each of the two is asked in two ways: for the words as they are typed, and for what our own reading of a query makes of
them (words that mean the same, spellings, kinds as a condition; not places, which are boxes). All have the same folded
texts with the weights of our fields, and what has all words comes first. Quality is that of `benchmarks search`,
CPU and memory those of a catalogue of `large_catalogues`: the words alone, the best 80 services, no facets.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.judged_catalogue import Truth, add_written, fill
from benchmarks.large_catalogues import QUERIES as WORKLOAD
from benchmarks.search import MORE_QUERIES, QUERIES, halves, is_right
from geocrawl.query.fold import words_of
from geocrawl.query.language import read_query
from geocrawl.query.places import shipped_places
from geocrawl.store import Connection, Store
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.store.catalogue.search.plan import Plan, Planner
from geocrawl.store.catalogue.search.port import Phrase
from geocrawl.store.catalogue.search.vocabulary import shipped_vocabulary
from geocrawl.store.database.schema import TEXT_COLUMNS
from geocrawl.urls import server_key
from tests.support.places import shared_folder

_WEIGHTS = {"title": 6, "keywords": 3, "layers": 3}
"""Weights of the columns beside the others' 1, as the ranking adds them."""
_MOST = 80
_LOOKED_AT = 20
_ROUNDS = 3
_MOST_MS = 30_000
"""An engine that took so long for a part of the queries is asked no more."""

Find = Callable[[str], list[int]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an engine is asked for: groups of phrases, of each of which a service should have one."""

    groups: tuple[tuple[Phrase, ...], ...]
    kinds: tuple[str, ...] = ()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the large catalogue."""
    parser.add_argument("--catalogue", type=Path, help="for CPU and memory; left out without")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return quality by engine and part of the queries; CPU and memory by engine."""
    figures: dict[str, Any] = {"quality": {}}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "search.db"
        truths = fill(path, shared_folder())
        tuned, aside = halves(tomllib.loads(QUERIES.read_text("utf-8")))
        _judge(figures["quality"], path, Path(name) / "first", {"tuning": tuned, "set_aside": aside}, truths)
        truths |= add_written(path)
        tuned, aside = halves(tomllib.loads(MORE_QUERIES.read_text("utf-8")), of=3)
        _judge(figures["quality"], path, Path(name) / "more", {"more_tuning": tuned, "more_set_aside": aside}, truths)
        if options.catalogue:
            figures["large"] = _costs(options.catalogue, Path(name) / "large")
    return figures


def _engines(connection: Connection, folder: Path) -> Iterator[tuple[str, Callable[[], Find]]]:
    """Yield the name of each engine and what makes it ready."""
    yield "present", lambda: _present(search_engine(connection))
    yield "fts5, words as typed", lambda: _fts5(connection, _typed)
    yield "fts5, our reading", lambda: _fts5(connection, _read)
    try:
        importlib.import_module("tantivy")
    except ImportError:
        return
    yield "tantivy, words as typed", lambda: _tantivy(connection, folder, _typed)
    yield "tantivy, our reading", lambda: _tantivy(connection, folder, _read)


# --------------------------------------------------------------------------- what is asked

_PLANNER = Planner(shipped_vocabulary(), shipped_places())


def _typed(text: str) -> _Asked:
    return _Asked(tuple((Phrase((word,)),) for word in words_of(text)))


def _read(text: str) -> _Asked:
    plan: Plan = _PLANNER.plan(read_query(text))
    groups = tuple((*each.exact, *each.similar) for each in plan.concepts if not each.is_weak)
    kinds = tuple(kind for words in plan.kind_words for kind in words.kinds)
    return _Asked(groups or tuple((*each.exact, *each.similar) for each in plan.concepts), kinds)


# --------------------------------------------------------------------------- engines


def _present(engine: SearchEngine) -> Find:
    def find(text: str) -> list[int]:
        hits = engine.search(text, limit=_LOOKED_AT).hits
        return [number for hit in hits for number in (hit.id, *(twin.id for twin in hit.twin_services))]

    return find


def _fts5(connection: Connection, read: Callable[[str], _Asked]) -> Find:
    weights = ", ".join(str(_WEIGHTS.get(column, 1)) for column in TEXT_COLUMNS)

    def ask(match: str, kinds: Sequence[str]) -> list[int]:
        marks = ", ".join(f"'{kind}'" for kind in kinds)
        where = f"AND rowid IN (SELECT id FROM service WHERE kind IN ({marks}))" if kinds else ""
        order = f"ORDER BY bm25(search_text, {weights}) LIMIT {_MOST}"
        query = f"SELECT rowid FROM search_text WHERE search_text MATCH ? {where} {order}"
        return [number for (number,) in connection.execute(query, (match,))]

    def find(text: str) -> list[int]:
        asked = read(text)
        parts = [f"({' OR '.join(map(_quoted, group))})" for group in asked.groups if group]
        if not parts:
            return []
        found = ask(" AND ".join(parts), asked.kinds) or ask(" AND ".join(parts), ())
        if len(found) < _LOOKED_AT and len(parts) > 1:
            found += ask(" OR ".join(parts), asked.kinds)
        return list(dict.fromkeys(found))

    return find


def _quoted(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.words)}"' + ("*" if phrase.is_prefix else "")


def _tantivy(connection: Connection, folder: Path, read: Callable[[str], _Asked]) -> Find:
    tantivy: Any = importlib.import_module("tantivy")
    index = _tantivy_index(tantivy, connection, folder)
    schema, searcher = index.schema, index.searcher()
    query_of, must, should = tantivy.Query, tantivy.Occur.Must, tantivy.Occur.Should

    def phrase_in(phrase: Phrase, column: str) -> Any:
        *before, last = phrase.words
        if phrase.is_prefix and not before:
            found = query_of.regex_query(schema, column, f"{last}.*")
        elif before:
            found = query_of.phrase_query(schema, column, list(phrase.words))
        else:
            found = query_of.term_query(schema, column, last)
        return query_of.boost_query(found, _WEIGHTS.get(column, 1))

    def group_of(group: Sequence[Phrase]) -> Any:
        return query_of.boolean_query(
            [(should, phrase_in(phrase, column)) for phrase in group for column in TEXT_COLUMNS]
        )

    def ask(parts: Sequence[Any], occurs: Any, kinds: Sequence[str]) -> list[int]:
        query = query_of.boolean_query([(occurs, part) for part in parts])
        if kinds:
            of_kinds = query_of.boolean_query([(should, query_of.term_query(schema, "kind", kind)) for kind in kinds])
            query = query_of.boolean_query([(must, query), (must, query_of.const_score_query(of_kinds, 0.0))])
        found = searcher.search(query, limit=_MOST, count=False).hits
        return [searcher.doc(address)["id"][0] for _, address in found]

    def find(text: str) -> list[int]:
        asked = read(text)
        parts = [group_of(group) for group in asked.groups if group]
        if not parts:
            return []
        found = ask(parts, must, asked.kinds) or ask(parts, must, ())
        if len(found) < _LOOKED_AT and len(parts) > 1:
            found += ask(parts, should, asked.kinds)
        return list(dict.fromkeys(found))

    return find


def _tantivy_index(tantivy: Any, connection: Connection, folder: Path) -> Any:
    """Return an index of the folded texts, made if the folder has none."""
    schema = tantivy.SchemaBuilder()
    schema.add_integer_field("id", stored=True)
    schema.add_text_field("kind", tokenizer_name="raw")
    for column in TEXT_COLUMNS:
        schema.add_text_field(column, tokenizer_name="whitespace")
    is_made = folder.exists()
    folder.mkdir(exist_ok=True)
    index = tantivy.Index(schema.build(), path=str(folder))
    if not is_made:
        writer = index.writer(128 * 2**20, 1)
        columns = ", ".join(f"t.{column}" for column in TEXT_COLUMNS)
        query = f"SELECT s.id, s.kind, {columns} FROM service s JOIN search_text t ON t.rowid = s.id"
        for number, kind, *texts in connection.execute(query):
            document = tantivy.Document(id=number, kind=kind)
            for column, text in zip(TEXT_COLUMNS, texts, strict=True):
                document.add_text(column, " ".join(words_of(text)))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    index.reload()
    return index


# --------------------------------------------------------------------------- quality

_KEYS = "SELECT s.id, e.key FROM service s JOIN endpoint e ON e.id = s.best_id"


def _judge(
    figures: dict[str, Any],
    path: Path,
    folder: Path,
    parts: Mapping[str, Sequence[tuple[str, str, str]]],
    truths: Mapping[int, Truth],
) -> None:
    with Store.open_readonly(path) as connection:
        servers = {number: server_key(key) or f"#{number}" for number, key in connection.execute(_KEYS)}
        for engine, make in _engines(connection, folder):
            find = make()
            for name, queries in parts.items():
                places = [_place(find(text), right, truths, servers) for _, text, right in queries]
                row = {
                    "queries": len(places),
                    "hit_at_1": round(sum(place == 1 for place in places) / len(places), 3),
                    "mrr": round(sum(1 / place for place in places if place) / len(places), 3),
                    "none_of_20": sum(not place for place in places),
                }
                print(f"   {name}, {engine}: {row}", flush=True)
                figures.setdefault(name, {})[engine] = row


def _place(found: Sequence[int], right: str, truths: Mapping[int, Truth], servers: Mapping[int, str]) -> int:
    """Return the place of the first right hit, twins being one; 0 where none of the first 20 is right."""
    groups = dict[str, bool]()
    for number in found:
        server = servers.get(number, f"#{number}")
        groups[server] = groups.get(server, False) or is_right(truths[number], right)
    return next((place for place, each in enumerate(list(groups.values())[:_LOOKED_AT], 1) if each), 0)


# --------------------------------------------------------------------------- costs


def _costs(path: Path, folder: Path) -> dict[str, Any]:
    """Return CPU, and memory that an engine adds to those before it, of the large catalogue."""
    queries = [query for query in WORKLOAD if query and ":" not in query and not set(query) & set('-"')]
    rows = dict[str, Any]()
    with Store.open_readonly(path) as connection:
        for engine, make in _engines(connection, folder):
            before_mib, begun = _resident_mib(), time.process_time()
            find = make()
            find("warm")
            ready_s, times = time.process_time() - begun, list[float]()
            for query in queries * _ROUNDS:
                if sum(times) > _MOST_MS:
                    break
                begun = time.process_time()
                find(query)
                times.append(1000 * (time.process_time() - begun))
            rows[engine] = {
                "ready_cpu_s": round(ready_s, 2),
                "queries": len(times),
                "p50_cpu_ms": round(float(np.percentile(times, 50)), 1),
                "p95_cpu_ms": round(float(np.percentile(times, 95)), 1),
                "adds_mib": _resident_mib() - before_mib,
            }
            print(f"   {engine}: {rows[engine]}", flush=True)
    if folder.exists():
        rows["tantivy_index_mib"] = sum(each.stat().st_size for each in folder.iterdir()) // 2**20
    rows["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return rows


def _resident_mib() -> int:
    status = Path("/proc/self/status").read_text("utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) // 1024
