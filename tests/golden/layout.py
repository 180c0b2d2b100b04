"""Lay texts out in as few lines as people can compare: readable widths, four items of a list, and a hash of the rest.

Every text has two lengths: the whole one, which `show` and `diff --against COMMIT` print, and the one that is kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

WIDTH = 118
JSON_WIDTH = 200
KEPT_ITEMS = 4
_BLOCK = re.compile(
    r"<(?:!|/?(?:html|head|body|main|header|footer|nav|section|article|form|table|thead|tbody|ul|ol|dl|svg)\b"
    r"|(?:meta|title|link|script|h\d|div|p|li|tr|dt|label|select|details|feed|entry|url)\b)"
)
"""Elements that begin a line of their own; the elements inside share it as far as they fit."""
_ITEM = re.compile(r"<(li|tr|article|entry|url|option)\b")


def hash_of(lines: Iterable[str]) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of lines."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:16]


class Layout:
    """How the texts of a run are laid out: whole, or with four items of each list."""

    def __init__(self, mask: Callable[[str], str], whole: bool = False) -> None:
        """Take what hides volatile values: widths and hashes may not depend on them."""
        self._mask = mask
        self._whole = whole

    def listed(self, items: Sequence[str], kept: Sequence[int] = range(KEPT_ITEMS), few: int = KEPT_ITEMS) -> list[str]:
        """Return a list, whole or cut: the items at some positions, and a line with number and hash of the others."""
        if self._whole or len(items) <= few:
            return list(items)
        masked = [self._mask(item) for item in items]
        shown = [item for at, item in enumerate(masked) if at in kept]
        others = [item for at, item in enumerate(masked) if at not in kept]
        return [*shown, f"… {len(others)} more, {hash_of(others)}"]

    def json(self, value: Any) -> str:
        """Return JSON in lines; what fits stands in one line."""
        return "\n".join(self._json_lines(value))

    def _json_lines(self, value: Any) -> Iterator[str]:
        line = json.dumps(value, ensure_ascii=False)
        if not isinstance(value, dict | list) or not value or self._fits(line):
            yield line
            return
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield opening
        members = self._members(value)
        for number, member in enumerate(members, 1):
            for line in f"{member}{',' if number < len(members) else ''}".split("\n"):
                yield f" {line}"
        yield closing

    def _members(self, value: Any) -> list[str]:
        """Return the members of an object, or those of a list, of objects the first four."""
        if isinstance(value, dict):
            return [f"{json.dumps(key, ensure_ascii=False)}: {self.json(member)}" for key, member in value.items()]
        members = [self.json(member) for member in value]
        return self.listed(members) if all(isinstance(member, dict) for member in value) else members

    def _fits(self, line: str) -> bool:
        return len(line) < 2 * JSON_WIDTH and len(self._mask(line)) <= JSON_WIDTH

    def markup(self, text: str) -> str:
        """Return HTML or XML in lines; of lists of elements the first four."""
        pieces = re.sub(r">\s*<", ">\0<", self._mask(text)).rstrip().split("\0")
        return "\n".join(_joined(self._pieces(pieces)))

    def _pieces(self, pieces: Sequence[str]) -> Iterator[str]:
        """Yield tags with the text behind them, and lists of elements in lines."""
        at = 0
        while at < len(pieces):
            items, end = _items_at(pieces, at)
            if items:
                yield from self.listed(["\n".join(_joined([item[0], *self._pieces(item[1:])])) for item in items])
            else:
                yield pieces[at]
            at = max(end, at + 1)


def _items_at(pieces: Sequence[str], at: int) -> tuple[list[Sequence[str]], int]:
    """Return the elements of the list that begins at a piece, none where no list does, and where it ends."""
    items = []
    while at < len(pieces) and (opened := _ITEM.match(pieces[at])):
        end, depth = at, 0
        while end < len(pieces) and (depth or end == at):
            depth += len(re.findall(rf"<{opened[1]}\b", pieces[end])) - pieces[end].count(f"</{opened[1]}>")
            end += 1
        items.append(pieces[at:end])
        at = end
    return items, at


def _joined(pieces: Iterable[str]) -> Iterator[str]:
    """Yield lines: a block begins one, what is inside follows as far as it fits."""
    line = ""
    for piece in pieces:
        room = WIDTH - len(line.rpartition("\n")[2])
        if line and (_BLOCK.match(piece) or piece.startswith("…") or line.startswith("…") or len(piece) > room):
            yield line
            line = ""
        line += piece
    if line:
        yield line
