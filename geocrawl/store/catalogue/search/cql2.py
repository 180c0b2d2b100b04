"""Read filters in the Common Query Language (CQL2, OGC 21-065r2), and say of each service whether it fulfils one.

CQL2 JSON is a tree as it is; the library cql2 makes the same tree of CQL2 text. A comparison with an unknown
value is neither true nor false, and so is its opposite: `_Truth` holds both for all services at once."""

from __future__ import annotations

import datetime as dt
import fnmatch
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from geocrawl.filters import Cql2, QueryError, read_box, read_times
from geocrawl.model.catalogue import HEALTHS, LEVELS
from geocrawl.model.search import QUERYABLES
from geocrawl.sanitize import plain
from geocrawl.store.catalogue.search.port import QUERIED
from geocrawl.store.catalogue.search.selection import has_fields, has_times, having_fields, meeting_times, touching
from geocrawl.store.catalogue.search.snapshot import Flags, Snapshot

MOST_CHARS = 2_000
MOST_CONDITIONS = 20
"""Most comparisons of a filter; each looks at every service."""
_MOST_DEPTH = 12
_MOST_VALUES = 100
"""Most values of IN."""

Tree = Any
"""A filter as CQL2 JSON."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter that has been read."""

    tree: Tree

    def __call__(self, snapshot: Snapshot) -> Flags:
        """Return for each position of a snapshot whether its service fulfils the filter."""
        return _truth(self.tree, snapshot).yes


@lru_cache(maxsize=64)
def read_filter(given: Cql2) -> Condition:
    """Return a filter that was read. Raises QueryError for one that cannot be read, is too long, or asks for
    what is no property."""
    if len(given.text) > MOST_CHARS:
        raise QueryError(f"filter has {len(given.text):,} characters; {MOST_CHARS:,} at most")
    text = given.text.encode("utf-8", "replace").decode()  # without single surrogates
    tree = _tree_of_json(text) if given.is_json else _tree_of_text(text)
    condition = Condition(tree)
    if (number := _checked(tree, 0)) > MOST_CONDITIONS:
        raise QueryError(f"filter has {number} comparisons; {MOST_CONDITIONS} at most")
    condition(Snapshot())  # what a comparison is of is checked where it is made
    return condition


def _wrong(said: str) -> QueryError:
    return QueryError(f"filter: {plain(said, 200)}")


# --------------------------------------------------------------------------- reading


def _tree_of_json(text: str) -> Tree:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number of JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise _wrong(f"cannot be read as JSON ({error})") from None


_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
_OPERATOR = re.compile(r"[-+*/^%=<>]|\b(?:not|div)\b", re.IGNORECASE)
_MOST_OPERATORS = 100
_MOST_PARENTHESES = 6
"""The time that cql2 needs for a text that is wrong doubles with each parenthesis within another; here it stays below
0.2 s. Operators in a row cost it stack, and a thread has little."""
_PLACE = re.compile(r"--> 1:(\d+)")


def _tree_of_text(text: str) -> Tree:
    from cql2 import ParseError, parse_text  # few searches have a filter, and its import takes time

    _refuse_costly(_QUOTED.sub("''", text))
    try:
        tree: Tree = parse_text(text).to_json()
    except ParseError as error:
        place = _PLACE.search(str(error))
        near = (text[int(place[1]) - 1 :] if place else text)[:40].strip()
        at = f"“{near}”" if near else "its end"
        raise _wrong(f"cannot be read at {at}; expected CQL2 such as title LIKE '%water%' AND quality > 50") from None
    return tree


def _refuse_costly(bare: str) -> None:
    """Raise QueryError for a filter (without its texts) that cql2 would spend much time or stack on."""
    depth = deepest = 0
    for sign in re.findall(r"[()]", bare):
        depth = depth + 1 if sign == "(" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    if deepest > _MOST_PARENTHESES:
        raise _wrong(f"parentheses are nested {deepest} deep; {_MOST_PARENTHESES} at most in text, more in JSON")
    if (number := len(_OPERATOR.findall(bare))) > _MOST_OPERATORS:
        raise _wrong(f"{number} operators; {_MOST_OPERATORS} at most")


def _checked(tree: Tree, depth: int) -> int:
    """Return the number of comparisons. Raises QueryError for a tree that is too deep."""
    if depth > _MOST_DEPTH:
        raise _wrong(f"more than {_MOST_DEPTH} conditions are nested in each other")
    operation, arguments = _operation(tree)
    if operation in ("and", "or", "not"):
        return sum(_checked(argument, depth + 1) for argument in arguments)
    return 1


# --------------------------------------------------------------------------- truth


@dataclass(frozen=True, slots=True)
class _Truth:
    """Whether services fulfil a condition (`yes`) or its opposite (`no`); neither where a value is unknown."""

    yes: Flags
    no: Flags


def _truth(tree: Tree, snapshot: Snapshot) -> _Truth:
    if isinstance(tree, bool):
        return _Truth(np.full(snapshot.count, tree), np.full(snapshot.count, not tree))
    operation, arguments = _operation(tree)
    if operation == "not":
        (negated,) = _exactly(1, arguments, "not")
        inner = _truth(negated, snapshot)
        return _Truth(inner.no, inner.yes)
    if operation in ("and", "or"):
        if not arguments:
            raise _wrong(f"“{operation}” needs conditions")
        inners = [_truth(argument, snapshot) for argument in arguments]
        yes, no = [each.yes for each in inners], [each.no for each in inners]
        both, either = np.logical_and.reduce, np.logical_or.reduce
        return _Truth(both(yes), either(no)) if operation == "and" else _Truth(either(yes), both(no))
    return _compared(operation, arguments, snapshot)


def _operation(tree: Tree) -> tuple[str, list[Tree]]:
    if isinstance(tree, bool):
        return "", []
    if not (isinstance(tree, dict) and isinstance(tree.get("op"), str) and isinstance(tree.get("args"), list)):
        raise _wrong(f"“{json.dumps(tree, default=str, ensure_ascii=False)}” is no condition")
    return tree["op"], tree["args"]


def _exactly(number: int, arguments: list[Tree], operation: str) -> list[Tree]:
    if len(arguments) != number:
        raise _wrong(f"“{operation}” needs {number} arguments, and has {len(arguments)}")
    return arguments


_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    **{"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le},
    **{">": operator.gt, ">=": operator.ge},
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _compared(operation: str, arguments: list[Tree], snapshot: Snapshot) -> _Truth:
    if operation in _COMPARISONS:
        left, right = _exactly(2, arguments, operation)
        if _property_of(left) is None:  # 50 < quality
            left, right, operation = right, left, _TURNED.get(operation, operation)
        return _where(left, snapshot, [right], _COMPARISONS[operation])
    if operation == "isNull":
        (left,) = _exactly(1, arguments, operation)
        known = _column(left, snapshot).known
        return _Truth(~known, known)
    if operation == "between":
        left, low, high = _exactly(3, arguments, operation)
        return _where(left, snapshot, [low, high], lambda given, low, high: (given >= low) & (given <= high))
    if operation == "in":
        left, values = _exactly(2, arguments, operation)
        if not isinstance(values, list) or len(values) > _MOST_VALUES:
            raise _wrong(f"“in” needs a list of values, {_MOST_VALUES} at most")
        return _where(left, snapshot, values, _is_one_of)
    if operation == "like":
        left, pattern = _exactly(2, arguments, operation)
        return _like(left, pattern, snapshot)
    if operation == "t_intersects":
        left, times = _exactly(2, arguments, operation)
        return _of_time(left, times, snapshot)
    if operation in ("a_contains", "a_overlaps"):
        left, names = _exactly(2, arguments, operation)
        return _with_fields(left, names, snapshot, np.logical_and if operation == "a_contains" else np.logical_or)
    if operation == "s_intersects":
        left, shape = _exactly(2, arguments, operation)
        return _intersecting(left, shape, snapshot)
    functions = ("casei", "s_intersects", "t_intersects", "a_contains", "a_overlaps")
    supported = ", ".join(("and", "or", "not", *_COMPARISONS, "between", "in", "like", "isNull", *functions))
    raise _wrong(f"“{operation}” is not supported; expected one of {supported}")


def _is_one_of(given: Any, *values: Any) -> Any:
    return np.isin(given, values) if isinstance(given, np.ndarray) else given in values


def _like(left: Tree, pattern: Tree, snapshot: Snapshot) -> _Truth:
    """Return which texts fit a pattern: % for any characters, _ for one, a backslash before one that is meant."""
    wanted = _literal_text(pattern)
    parts = re.findall(r"\\(.)|(%)|(_)|(.)", wanted, re.DOTALL)
    glob = "".join(
        "*" if any_ else "?" if one else re.sub(r"([*?[])", r"[\1]", meant or each) for meant, any_, one, each in parts
    )
    fits = re.compile(fnmatch.translate(glob)).match  # in linear time: its groups are atomic
    column = _column(left, snapshot)
    if column.read is not _read_text:
        raise _wrong("“like” is for texts")
    return column.truth(lambda given: fits(given) is not None)


def _intersecting(left: Tree, shape: Tree, snapshot: Snapshot) -> _Truth:
    """Return whose extent meets a point or a box (CQL2, requirements class Basic Spatial Functions)."""
    if _property_of(left) != "geometry" or not isinstance(shape, dict):
        raise _wrong("“s_intersects” needs geometry and a BBOX or POINT")
    sides = shape.get("bbox") or (shape.get("coordinates") if shape.get("type") == "Point" else None)
    if not isinstance(sides, list | tuple) or len(sides) not in (2, 3, 4, 6):
        raise _wrong("“s_intersects” needs a BBOX of four numbers, or a POINT")
    flat = [*sides[:2], *sides[:2]] if len(sides) < 4 else [*sides[:2], *sides[len(sides) // 2 :][:2]]
    box = read_box(",".join(map(str, flat)), "filter: box")
    known = ~np.isnan(snapshot["west"])
    meets = touching(snapshot, box)
    return _Truth(meets & known, ~meets & known)


def _of_time(left: Tree, times: Tree, snapshot: Snapshot) -> _Truth:
    """Return whose data is of a time that meets an instant or an interval (CQL2, Temporal Functions)."""
    given = times if isinstance(times, dict) else {}
    interval, instant = given.get("interval"), given.get("timestamp", given.get("date"))
    ends = interval if isinstance(interval, list) and len(interval) == 2 else [instant, instant]
    if _property_of(left) != "time" or not all(isinstance(end, str) for end in ends):
        raise _wrong("“t_intersects” needs time and a TIMESTAMP, a DATE or an INTERVAL of two texts")
    known, meets = has_times(snapshot), meeting_times(snapshot, read_times("/".join(map(str, ends)), "filter: time"))
    return _Truth(meets, ~meets & known)


def _with_fields(left: Tree, names: Tree, snapshot: Snapshot, joined: np.ufunc) -> _Truth:
    """Return whose layers have fields with all or any of some names (CQL2, Array Functions)."""
    if _property_of(left) != "fields" or not isinstance(names, list) or not 0 < len(names) <= _MOST_VALUES:
        raise _wrong("“a_contains” and “a_overlaps” need fields and a list of names")
    has: Flags = joined.reduce([having_fields(snapshot, [_read_text(name)]) for name in names])
    known = has_fields(snapshot)
    return _Truth(has, ~has & known)


# --------------------------------------------------------------------------- properties and values


def _read_text(value: Tree) -> str:
    if not isinstance(value, str):
        raise _wrong(f"“{value}”: expected a text in quotes")
    return value


def _read_number(value: Tree) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        raise _wrong(f"“{value}”: expected a number")
    return float(value)


def _read_flag(value: Tree) -> bool:
    if not isinstance(value, bool):
        raise _wrong(f"“{value}”: expected TRUE or FALSE")
    return value


def _read_time(value: Tree) -> float:
    text = value.get("timestamp", value.get("date")) if isinstance(value, dict) else None
    try:
        at = dt.datetime.fromisoformat(text or "")
        return (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        raise _wrong(f"“{value}”: expected a time such as TIMESTAMP('2026-01-31T00:00:00Z')") from None


_QUERIED = {column.queried_as: column for column in QUERIED.values()}
_READERS: Mapping[str, Callable[[Tree], Any]] = {
    "BOOLEAN": _read_flag,
    "INTEGER": _read_number,
    "DOUBLE": _read_number,
    "DATETIME": _read_time,
}
"""Type of a column in SQL → what reads a literal of it; all others are texts."""


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of a property: an array, or texts and the place of each service's among them."""

    read: Callable[[Tree], Any]
    """Returns a literal of its type. Raises QueryError for another."""
    known: Flags
    values: Any
    texts: Sequence[str] = ()

    def truth(self, test: Callable[[Any], Any]) -> _Truth:
        """Return which values pass a test of an array, or of one text."""
        if self.read is _read_text:
            passed = np.fromiter(map(test, self.texts), np.bool_, len(self.texts))
            passes = passed[self.values] if len(passed) else np.zeros(0, np.bool_)
        else:
            passes = np.asarray(test(self.values), np.bool_)
        return _Truth(passes & self.known, ~passes & self.known)


def _where(left: Tree, snapshot: Snapshot, values: Sequence[Tree], test: Callable[..., Any]) -> _Truth:
    """Return which services' property passes a test with some literals, which are of its type."""
    column = _column(left, snapshot)
    known = [(_literal_text if column.read is _read_text else column.read)(value) for value in values]
    return column.truth(lambda given: test(given, *known))


def _literal_text(value: Tree) -> str:
    """Return a text, folded where CASEI is around it."""
    if isinstance(value, dict) and value.get("op") == "casei":
        return _read_text(*_exactly(1, _operation(value)[1], "casei")).casefold()
    return _read_text(value)


def _property_of(tree: Tree) -> str | None:
    """Return the property that a tree names, CASEI around it or not; None for a value."""
    if isinstance(tree, dict) and tree.get("op") == "casei" and isinstance(tree.get("args"), list) and tree["args"]:
        return _property_of(tree["args"][0])
    name = tree.get("property") if isinstance(tree, dict) else None
    return name if isinstance(name, str) else None


def _column(tree: Tree, snapshot: Snapshot) -> _Column:
    """Return the values of the property that a tree names. Raises QueryError where it names none."""
    name = _property_of(tree)
    if name is None or name not in QUERYABLES:
        said = name if name is not None else json.dumps(tree, default=str)
        raise _wrong(f"“{plain(said, 60)}” is no property; expected one of {', '.join(QUERYABLES)}")
    everywhere = np.ones(snapshot.count, np.bool_)
    if name == "time":
        return _Column(_refuse_time, has_times(snapshot), snapshot["time_start"])
    if name == "fields":
        return _Column(_refuse_fields, has_fields(snapshot), snapshot["fields"])
    if name == "geometry":
        return _Column(_refuse_geometry, ~np.isnan(snapshot["west"]), snapshot["west"])
    queried = _QUERIED.get(name)
    if queried is not None and queried.sql in _READERS:
        values = snapshot[queried.name]
        known = ~np.isnan(values) if values.dtype.kind == "f" else everywhere
        return _Column(_READERS[queried.sql], known, values)
    texts, places = _texts_of(name, snapshot)
    folded = [text.casefold() for text in texts] if tree.get("op") == "casei" else texts
    has_text = np.fromiter(map(bool, texts), np.bool_, len(texts))
    return _Column(_read_text, has_text[places] if len(texts) else everywhere, places, folded)


def _texts_of(name: str, snapshot: Snapshot) -> tuple[Sequence[str], Any]:
    """Return the texts of a property, and the place of each service's among them."""
    if name == "health":
        return HEALTHS, snapshot["health"]
    if name == "level":
        return ("", *LEVELS), snapshot["level"]
    if name in _QUERIED and name != "title":
        column = _QUERIED[name].name
        return snapshot.names[column].texts, snapshot[column]
    own: Iterable[str] = snapshot.titles[: snapshot.count] if name == "title" else map(str, snapshot["id"].tolist())
    return list(own), np.arange(snapshot.count)


def _refuse_time(value: Tree) -> float:
    raise _wrong("time is compared by T_INTERSECTS alone; its ends are time_start and time_end")


def _refuse_fields(value: Tree) -> float:
    raise _wrong("fields are compared by A_CONTAINS and A_OVERLAPS alone")


def _refuse_geometry(value: Tree) -> float:
    raise _wrong("geometry is compared by S_INTERSECTS alone")
