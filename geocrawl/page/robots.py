"""What a page asks of robots: meta robots and the X-Robots-Tag field."""

from __future__ import annotations

from typing import NamedTuple

_OURS = frozenset({"*", "robots", "geocrawl"})
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class Directives(NamedTuple):
    nofollow: bool
    noindex: bool


def read_directives(meta: str, header: str) -> Directives:
    """Whether links may not be followed, and whether the page may not be shown, from both places together.

    In the field a robot's name and a colon may stand before directives; those for others do not concern us. Names end
    with the next name only, since repeated fields arrive joined by commas: what follows a stranger's name is his.
    """
    ours = {directive.strip().lower() for directive in meta.split(",")}
    concerned = True
    for part in header.lower().split(","):
        name, colon, directive = part.strip().partition(":")
        if colon and name.strip() not in _WITH_VALUE:
            concerned = name.strip() in _OURS
        else:
            directive = name
        if concerned:
            ours.add(directive.strip())
    every = "none" in ours
    return Directives(nofollow=every or "nofollow" in ours, noindex=every or "noindex" in ours)
