"""Read whether a page asks robots not to follow its links: meta robots and the X-Robots-Tag field."""

from __future__ import annotations

_OUR_NAMES = frozenset({"*", "robots", "geocrawl"})
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def forbids_following(meta: str, header: str) -> bool:
    """Return whether meta robots (`meta`) or X-Robots-Tag (`header`) contains `nofollow` or `none` for us or everybody.

    In X-Robots-Tag, a robot's name and a colon may precede directives. All directives up to the next name are for that
    robot, because repeated fields arrive joined by commas.
    """
    ours = {directive.strip().lower() for directive in meta.split(",")}
    for_us = True
    for part in header.lower().split(","):
        name, colon, directive = part.strip().partition(":")
        if colon and name.strip() not in _WITH_VALUE:
            for_us = name.strip() in _OUR_NAMES
        else:
            directive = name
        if for_us:
            ours.add(directive.strip())
    return not ours.isdisjoint({"none", "nofollow"})
