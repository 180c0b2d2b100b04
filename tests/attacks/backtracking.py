"""How many steps a regular expression takes, counted: a backtracking matcher over the parse tree of Python's own `re`.

It tries what `re` tries, in the same order, without its shortcuts (literal prefixes, character sets at the start), so
it counts at least as many steps; what it finds exponential, an attacker may find too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Next = Callable[[int], bool]
_SINGLE = frozenset({code.LITERAL, code.NOT_LITERAL, code.ANY, code.IN})
"""Nodes that take one character."""
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    code.CATEGORY_DIGIT: str.isdigit,
    code.CATEGORY_NOT_DIGIT: lambda character: not character.isdigit(),
    code.CATEGORY_SPACE: str.isspace,
    code.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
    code.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
    code.CATEGORY_NOT_WORD: lambda character: not (character.isalnum() or character == "_"),
}


class TooManySteps(Exception):
    """The limit was reached."""


@lru_cache(maxsize=64)
def _tree_of(pattern: re.Pattern[str]) -> list[Any]:
    """Return the parse tree of a pattern: parsing takes longer than most of the searches that are counted."""
    tree: list[Any] = _plain(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    return tree


def _plain(value: Any) -> Any:
    """Return a part of a parse tree with lists in the place of `SubPattern`, which is slow to go through."""
    if isinstance(value, _parser.SubPattern | list):
        return [_plain(each) for each in value]
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


class Counter:
    """Counts the steps of searches of one pattern."""

    def __init__(self, pattern: re.Pattern[str], limit: int) -> None:
        self._tree = _tree_of(pattern)
        self._ignores_case = bool(pattern.flags & re.IGNORECASE)
        self._dot_all = bool(pattern.flags & re.DOTALL)
        self._limit = limit
        self.steps = 0

    def search(self, text: str) -> bool:
        """As `Pattern.search`, with the steps counted. Raises TooManySteps."""
        self._text = text.lower() if self._ignores_case else text
        return any(self._match(self._tree, 0, start, lambda _: True) for start in range(len(text) + 1))

    def _match(self, nodes: Sequence[Any], index: int, at: int, then: Next) -> bool:
        text = self._text
        while True:
            self.steps += 1
            if self.steps > self._limit:
                raise TooManySteps
            if index == len(nodes):
                return then(at)
            kind, value = nodes[index]
            if kind not in _SINGLE:
                break
            if at >= len(text) or not self._holds(kind, value, text[at]):
                return False
            index, at = index + 1, at + 1

        def rest(end: int) -> bool:
            return self._match(nodes, index + 1, end, then)

        if kind is code.SUBPATTERN:
            return self._match(value[3], 0, at, rest)
        if kind is code.BRANCH:
            return any(self._match(branch, 0, at, rest) for branch in value[1])
        if kind in (code.MAX_REPEAT, code.MIN_REPEAT):
            return self._repeat(value, at, rest, greedy=kind is code.MAX_REPEAT)
        if kind in (code.ASSERT, code.ASSERT_NOT):
            behind, inner = value
            starts = [at] if behind > 0 else range(max(at - 60, 0), at + 1)
            found = any(self._match(inner, 0, start, lambda end: behind > 0 or end == at) for start in starts)
            return found == (kind is code.ASSERT) and rest(at)
        if kind is code.AT:
            return self._at(value, at) and rest(at)
        return rest(at)  # group references and the like: as good as empty

    def _repeat(self, value: Any, at: int, rest: Next, *, greedy: bool) -> bool:
        least, most, inner = value
        if len(inner) == 1 and inner[0][0] in _SINGLE:
            ends = self._run(inner[0], at, least, most)
            return any(rest(end) for end in (reversed(ends) if greedy else ends))
        return self._again(inner, at, rest, 0, least, most, greedy=greedy)

    def _run(self, node: Any, at: int, least: int, most: int) -> list[int]:
        """Where a repeat of one character may end."""
        end, text = at, self._text
        while end < len(text) and end - at < most and self._holds(node[0], node[1], text[end]):
            end += 1
            self.steps += 1
        return list(range(at + least, end + 1))

    def _again(
        self, nodes: Sequence[Any], at: int, rest: Next, done: int, least: int, most: int, *, greedy: bool
    ) -> bool:
        def again(end: int) -> bool:
            if done >= least and end == at:  # an empty round changes nothing
                return False
            return self._again(nodes, end, rest, done + 1, least, most, greedy=greedy)

        def more() -> bool:
            return done < most and self._match(nodes, 0, at, again)

        if done < least:
            return more()
        return (more() or rest(at)) if greedy else (rest(at) or more())

    def _at(self, where: Any, at: int) -> bool:
        text = self._text
        if where in (code.AT_BEGINNING, code.AT_BEGINNING_STRING):
            return at == 0
        if where in (code.AT_END, code.AT_END_STRING):
            return at == len(text)
        before = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
        after = at < len(text) and (text[at].isalnum() or text[at] == "_")
        return (before != after) == (where in (code.AT_BOUNDARY, code.AT_UNI_BOUNDARY))

    def _holds(self, kind: Any, value: Any, character: str) -> bool:
        if kind is code.ANY:
            return self._dot_all or character != "\n"
        if kind is code.IN:
            negated = value[0][0] is code.NEGATE
            return any(self._in(each, character) for each in value) != negated
        same = chr(value).lower() == character if self._ignores_case else chr(value) == character
        return same == (kind is code.LITERAL)

    def _in(self, item: Any, character: str) -> bool:
        kind, value = item
        if kind is code.LITERAL:
            return character in (chr(value), chr(value).lower()) if self._ignores_case else character == chr(value)
        if kind is code.RANGE:
            low, high = value
            return low <= ord(character) <= high or (self._ignores_case and low <= ord(character.upper()) <= high)
        return kind is code.CATEGORY and value in _CATEGORIES and _CATEGORIES[value](character)


def pumps(pattern: re.Pattern[str]) -> Iterator[str]:
    """Texts that its repeats take: a character or two of each, what stands before it, over and over."""
    samples = [_sample(node) for node in _walk(_tree_of(pattern))]
    units = {sample for sample in samples if sample}
    singles = sorted(units)[:40]
    yield from singles
    yield from (one + other for one, other in combinations(singles[:12], 2))  # "ab" over and over is "ba" over and over


def _walk(nodes: Sequence[Any]) -> Iterator[Any]:
    for kind, value in nodes:
        if kind in (code.MAX_REPEAT, code.MIN_REPEAT):
            yield (kind, value)
            yield from _walk(value[2])
        elif kind is code.SUBPATTERN:
            yield from _walk(value[3])
        elif kind is code.BRANCH:
            for branch in value[1]:
                yield from _walk(branch)
        elif kind in (code.ASSERT, code.ASSERT_NOT):
            yield from _walk(value[1])
        else:
            yield (kind, value)


def _sample(node: Any) -> str:
    """A short text that a node takes."""
    kind, value = node
    if kind is code.LITERAL:
        return chr(value)
    if kind is code.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind is code.ANY:
        return "a"
    if kind is code.IN:
        if value[0][0] is code.NEGATE:
            return "a"
        first_kind, first = value[0]
        if first_kind is code.CATEGORY:
            return {code.CATEGORY_DIGIT: "1", code.CATEGORY_SPACE: " "}.get(first, "a")
        return chr(first) if first_kind is code.LITERAL else chr(first[0])
    if kind in (code.MAX_REPEAT, code.MIN_REPEAT):
        return "".join(_sample(each) for each in _walk(value[2]))[:20]
    return ""
