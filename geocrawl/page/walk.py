"""Walk over an HTML tree: shared by all readers of HTML."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

UNREAD = frozenset(["script", "style", "title", "template", "iframe", "noframes", "noembed"])
"""Elements whose content is no text of the page. `noscript` is not in the list: it is text for clients without scripts.
"""


def walk(root: LexborNode) -> Iterator[tuple[LexborNode, str, bool]]:
    """Yield each node except comments with its tag, on entering (True) and, for elements, on leaving (False).

    The walk is not recursive, so that the depth of a tree is not limited.
    """
    ancestors: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag or ""
        if tag == "-text":
            yield node, tag, True
        elif not tag.startswith("-"):
            yield node, tag, True
            child = None if tag in UNREAD else node.first_child
            if child is not None:
                ancestors.append((node, tag))
                node = child
                continue
            yield node, tag, False
        following = node.next if ancestors else None
        while following is None and ancestors:
            node, tag = ancestors.pop()
            yield node, tag, False
            following = node.next if ancestors else None
        node = following
