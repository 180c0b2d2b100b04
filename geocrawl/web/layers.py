"""Arrange the layers of a service as a tree, filtered by words, with what each one needs for a preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from geocrawl.model.catalogue import Layer

MOST_LAYERS = 400
"""Most layers of one page."""
_MOST_DEPTH = 30
_OPEN_UP_TO = 60
"""A service of at most so many layers is shown with all groups open."""


@dataclass(slots=True)
class Node:
    """A layer with those below it."""

    row: Layer
    preview: str
    """The address of its preview; '' when it has none."""
    legend: str
    """The address of its legend, likewise."""
    info: str
    """The address that tells of a point, likewise."""
    box: str
    is_open: bool
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tree:
    """The layers that are shown."""

    roots: Sequence[Node]
    total_matching: int | None
    """How many layers have the words; None without words."""
    left_out: int


def layer_tree(layers: Sequence[Layer], words: str, pictures_of: Callable[[Layer], tuple[str, str, str]]) -> Tree:
    """Return the layers that have all the words in name, title or abstract, with the groups above them.

    `pictures_of` returns the addresses of a layer's preview, its legend and what tells of a point, '' for none.
    """
    matching = layers_with(layers, words) if words.split() else []
    by_position = {row.position: row for row in layers}
    shown: dict[int, Layer] = {}
    for row in matching if words.split() else layers:
        if len(shown) >= MOST_LAYERS:
            break
        for each in reversed(path_of(row, by_position)):
            shown.setdefault(each.position, each)
    is_open = bool(words.split()) or len(layers) <= _OPEN_UP_TO
    nodes = {
        row.position: Node(row, *pictures_of(row), box_text(row, by_position), is_open)
        for row in sorted(shown.values(), key=lambda row: row.position)
    }
    roots: list[Node] = []
    below: dict[int | None, tuple[list[Node], int]] = {}
    for node in nodes.values():
        beside, depth = below.get(node.row.parent, (roots, 0))
        beside.append(node)  # what lies deeper than is shown stands beside its group
        below[node.row.position] = (node.children, depth + 1) if depth < _MOST_DEPTH else (beside, depth)
    total = len(matching) if words.split() else None
    return Tree(roots, total, max((total if total is not None else len(layers)) - len(shown), 0))


def layers_with(layers: Sequence[Layer], words: str) -> list[Layer]:
    """Return the layers that have all the words in name, title or abstract; all layers without words."""
    wanted = words.casefold().split()
    texts = (f"{row.name}\n{row.title}\n{row.abstract}".casefold() for row in layers)
    return [row for row, text in zip(layers, texts, strict=True) if all(word in text for word in wanted)]


def path_of(row: Layer, by_position: Mapping[int, Layer]) -> list[Layer]:
    """Return a layer and the groups above it, the layer first; stored groups that form a circle end it."""
    path, seen = [row], {row.position}
    while len(path) < _MOST_DEPTH and (parent := path[-1].parent) is not None:
        above = by_position.get(parent)
        if above is None or above.position in seen:
            break
        seen.add(above.position)
        path.append(above)
    return path


def box_text(row: Layer, by_position: Mapping[int, Layer]) -> str:
    """Return the extent of a layer or of the next group above it that has one, as W,S,E,N; '' for none."""
    box = next((each.box for each in path_of(row, by_position) if each.box), None)
    return ",".join(f"{side:.6g}" for side in box) if box else ""


def systems_of(row: Layer, by_position: Mapping[int, Layer]) -> list[str]:
    """Return the reference systems of a layer, its own first, then those that it inherits."""
    return list(dict.fromkeys(code.upper() for each in path_of(row, by_position) for code in each.crs))
