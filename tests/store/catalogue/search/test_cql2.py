"""Filters in CQL2: what they find, what is unknown, what is refused; no text or tree brings them down."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocrawl.filters import Cql2, QueryError
from geocrawl.model.search import QUERYABLES
from geocrawl.store.catalogue.search.cql2 import MOST_CONDITIONS, read_filter
from geocrawl.store.catalogue.search.port import FACTS, Facts
from geocrawl.store.catalogue.search.snapshot import Snapshot

pytest.importorskip("cql2", reason="needs cql2: make dev-env")


class Index:
    """A catalogue of four services."""

    def __init__(self, written: list[Facts]) -> None:
        self.written = written

    def changes(self, upto: int) -> Any:
        return type("Changes", (), {"upto": 1, "written": self.written, "dropped": ()})()

    def items(self, upto: int) -> dict[int, tuple[str, ...]]:
        return {}


def facts(number: int, title: str, **known: Any) -> Facts:
    usual: dict[str, Any] = dict.fromkeys(FACTS, 0)
    usual |= {
        "kind": "wms",
        "provider": "",
        "country": "",
        "licence": "",
        "time_start": None,
        "time_end": None,
        "health": "alive",
        "level": "",
        "alive": True,
        "server": None,
    }
    usual |= {"host": "", **dict.fromkeys(("west", "south", "east", "north"))}
    values = usual | {"id": number, "title": title} | known
    return tuple(values[name] for name in FACTS)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    made = Snapshot()
    berlin = {"time_start": 1.4e9, "west": 13.0, "south": 52.0, "east": 14.0, "north": 53.0}
    fiji = {"west": 177.0, "south": -20.0, "east": -178.0, "north": -16.0}
    index = Index(
        [
            facts(
                1,
                "Water of Berlin",
                provider="Senate",
                country="DE",
                quality=80,
                last_ok=1.7e9,
                **berlin,
            ),
            facts(2, "Roads_100%", kind="wfs", health="down", alive=False, quality=20, first_seen=1.6e9),
            facts(3, "It's Fiji", country="FJ", level="delivers", quality=50, **fiji),
            facts(4, "", kind="csw", provider="senate*", quality=50),
        ]
    )
    made.refresh(index)  # type: ignore[arg-type]
    return made


FOUND = {
    "title LIKE '%water%'": [],
    "title LIKE 'Water%'": [1],
    "CASEI(title) LIKE CASEI('%WATER%')": [1],
    r"title LIKE 'Roads\_100\%'": [2],
    "title LIKE '_oads%'": [2],
    "provider LIKE 'senate*'": [4],
    "title NOT LIKE 'Water%'": [2, 3],
    "title = 'It''s Fiji'": [3],
    "title <> 'It''s Fiji'": [1, 2],
    "title IS NULL": [4],
    "NOT title IS NULL AND quality >= 50": [1, 3],
    "type IN ('wfs', 'csw')": [2, 4],
    "type NOT IN ('wfs', 'csw')": [1, 3],
    "id = '2' OR id = '3'": [2, 3],
    "quality BETWEEN 50 AND 80": [1, 3, 4],
    "quality NOT BETWEEN 50 AND 80": [2],
    "50 < quality": [1],
    "alive = FALSE": [2],
    "health = 'down' OR level = 'delivers'": [2, 3],
    "country = 'DE'": [1],
    "NOT (country = 'DE')": [3],  # where no country is known it is neither
    "NOT (country = 'DE' OR quality = 20)": [3],
    "country <> 'DE' OR quality = 50": [3, 4],
    "S_INTERSECTS(geometry, BBOX(5, 47, 15, 55))": [1],
    "T_INTERSECTS(time, INTERVAL('2020-01-01', '..'))": [1],
    "T_INTERSECTS(time, DATE('2010-01-01'))": [],
    "NOT T_INTERSECTS(time, TIMESTAMP('2010-01-01T00:00:00Z'))": [1],
    "time IS NULL": [2, 3, 4],
    "time_start > TIMESTAMP('2010-01-01T00:00:00Z')": [1],
    "NOT S_INTERSECTS(geometry, BBOX(5, 47, 15, 55))": [3],
    "S_INTERSECTS(geometry, POINT(179 -18))": [3],
    "updated > TIMESTAMP('2023-01-01T00:00:00Z')": [1],
    "created >= DATE('2020-01-01')": [2],
}


@pytest.mark.parametrize("text", FOUND)
def test_a_filter_finds_what_fulfils_it(text: str, snapshot: Snapshot) -> None:
    assert snapshot["id"][read_filter(Cql2(text))(snapshot)].tolist() == FOUND[text]


def test_a_filter_in_json_finds_the_same(snapshot: Snapshot) -> None:
    title = {"op": "casei", "args": [{"property": "title"}]}
    for tree, found in (
        ({"op": "like", "args": [title, {"op": "casei", "args": ["%WATER%"]}]}, [1]),
        ({"op": "between", "args": [{"property": "quality"}, 50, 80]}, [1, 3, 4]),
        ({"op": "s_intersects", "args": [{"property": "geometry"}, {"bbox": [5, 47, 0, 15, 55, 9]}]}, [1]),
        (
            {"op": "s_intersects", "args": [{"property": "geometry"}, {"type": "Point", "coordinates": [13.5, 52.5]}]},
            [1],
        ),
        ({"op": ">", "args": [{"property": "updated"}, {"timestamp": "2023-01-01T00:00:00Z"}]}, [1]),
        ({"op": "not", "args": [{"op": "isNull", "args": [{"property": "country"}]}]}, [1, 3]),
        (True, [1, 2, 3, 4]),
    ):
        assert snapshot["id"][read_filter(Cql2(json.dumps(tree), is_json=True))(snapshot)].tolist() == found, tree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title LIKE", "cannot be read at its end"),
        ("colour = 'red'", "“colour” is no property; expected one of id, type, title"),
        ("quality > 'many'", "“many”: expected a number"),
        ("title = 5", "“5.0”: expected a text"),
        ("updated > 'yesterday'", "expected a time such as TIMESTAMP"),
        ("updated > TIMESTAMP('yesterday')", "expected a time"),
        ("title = provider", "expected a text"),
        ("geometry = 5", "S_INTERSECTS"),
        ("time = 5", "T_INTERSECTS"),
        ("T_INTERSECTS(title, DATE('2010-01-01'))", "needs time"),
        ("S_INTERSECTS(geometry, POLYGON((0 0, 1 0, 1 1, 0 0)))", "needs a BBOX of four numbers, or a POINT"),
        ("S_INTERSECTS(geometry, BBOX(5, 95, 15, 99))", "degrees"),
        ("quality LIKE '5%'", "for texts"),
        ("S_WITHIN(geometry, BBOX(1,2,3,4))", "not supported"),
        ("quality + 1 > 5", "is no property"),
        ("quality = 1 OR", "cannot be read"),
        ("x" * 2_001, "2,000 at most"),
        (" AND ".join(["quality = 1"] * (MOST_CONDITIONS + 1)), f"{MOST_CONDITIONS} at most"),
        ("NOT (" * 30 + "quality = 1" + ")" * 30, "nested 30 deep"),
        ("NOT " * 20 + "quality = 1", "more than 12 conditions are nested"),
        ("quality = " + "-" * 500 + "1", "501 operators"),
        (f"type IN ({', '.join(['1'] * 101)})", "100 at most"),
    ],
)
def test_a_filter_that_cannot_be_used_says_why(text: str, said: str) -> None:
    with pytest.raises(QueryError, match="filter") as refused:
        read_filter(Cql2(text))
    assert said in str(refused.value)


def test_deep_nesting_and_costly_patterns_take_no_time(snapshot: Snapshot) -> None:
    snapshot.titles[0], before = "a" * 100_000, snapshot.titles[0]
    begun = time.process_time()
    deepest = "(quality = 1 AND " * 6 + "quality = 1 AND " * 60 + "quality ="
    for text in (
        "(" * 1_999,
        "NOT " * 400 + "alive",
        "quality = " + "1+" * 900,
        deepest,
        f"title LIKE '{'%a' * 900}b'",
    ):
        try:
            read_filter(Cql2(text))(snapshot)
        except QueryError:
            continue
    for text in ("[" * 1_999, '{"op":"not","args":[' * 90 + "true" + "]}" * 90):
        with pytest.raises(QueryError):
            read_filter(Cql2(text, is_json=True))
    snapshot.titles[0] = before
    assert time.process_time() - begun < 10


NAMES = [*QUERYABLES, "colour", "op", "property"]
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(["%", "%_\\", "wms"])
)
OPERATIONS = [
    *("and", "or", "not", "=", "<>", "<", ">=", "like", "between", "in", "isNull", "s_intersects", "casei", "t_after")
]


def trees(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=4)
    return st.one_of(
        *(st.fixed_dictionaries({"op": st.sampled_from(OPERATIONS), "args": lists}), lists),
        *(st.fixed_dictionaries({"property": st.sampled_from(NAMES)}), st.fixed_dictionaries({"bbox": lists})),
        *(st.fixed_dictionaries({name: inner}) for name in ("timestamp", "date", "interval", "type", "op")),
        st.fixed_dictionaries({"type": st.just("Point"), "coordinates": lists}),
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(LEAVES, trees, max_leaves=12))
def test_no_tree_brings_a_filter_down(tree: Any) -> None:
    for language in ("cql2-json", "cql2-text"):
        try:
            assert read_filter(Cql2(json.dumps(tree), is_json=language == "cql2-json"))(Snapshot()).dtype == np.bool_
        except QueryError as error:
            assert str(error).encode() and "\n" not in str(error)


SIGNS = [*"()=<>+-*/,'%", "'a'", "''", "5", "1e999", "\ud83d", "TIMESTAMP('2026-01-01T00:00:00Z')", "DATE('x')"]
CALLS = ["AND", "OR", "NOT", "LIKE", "IN", "BETWEEN", "IS NULL", "TRUE", "CASEI(", "BBOX(", "POINT(", "S_INTERSECTS("]
WORDS = st.sampled_from([*NAMES, *SIGNS, *CALLS])


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_no_text_brings_a_filter_down(text: str) -> None:
    try:
        assert read_filter(Cql2(text))(Snapshot()).dtype == np.bool_
    except QueryError as error:
        assert str(error).encode() and "\n" not in str(error)
