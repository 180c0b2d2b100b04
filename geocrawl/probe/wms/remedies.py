"""List what can be changed in a refused GetMap request, the most promising first.

A service exception names what it refuses, by its code or its words; then only that is changed. A failure that names
nothing may have any cause: the address, an optional parameter, the order of the axes, the reference system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from geocrawl.model import NOT_PERMITTED, Failure, FailureCode, Page
from geocrawl.probe.content.dimensions import Value
from geocrawl.probe.content.exceptions import Subject, exception_of
from geocrawl.probe.wms.maps import Manner, Maps, Style
from geocrawl.probe.wms.places import Target

Remedy = tuple[Target, Manner]

_HOPELESS = NOT_PERMITTED | {FailureCode.BUDGET, FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL}
_NOT_THERE = frozenset({401, 403, 404, 405, 410})
_BUSY = frozenset({429, 503})


def remedies(maps: Maps, targets: Sequence[Target], refused: Remedy, answer: Page | Failure) -> Iterator[Remedy]:
    """Yield (target, manner) to ask with instead of `refused`; `targets`: the layer in each reference system."""
    target, manner = refused
    if isinstance(answer, Failure):
        if answer.code not in _HOPELESS:
            yield from _other_address(maps, refused)
        return
    if answer.status in _BUSY:
        return
    exception = exception_of(answer)
    subject = exception.subject if exception is not None else Subject.UNKNOWN
    if subject is Subject.CRS:
        yield from _other_systems(targets, refused)
    elif subject is Subject.FORMAT or (exception is None and answer.content_type.startswith("image/")):
        yield from ((target, replace(manner, format=name)) for name in maps.formats)
    elif subject is Subject.STYLE:
        yield from _other_styles(refused)
    elif subject is Subject.DIMENSION:
        yield from ((target, replace(manner, dimension=value)) for value in Value)
    elif subject is Subject.OPTION:
        yield target, replace(manner, transparent=False)
    elif subject is Subject.BOX:
        yield from _other_axes(refused)
        yield from _other_systems(targets, refused)
    else:
        yield from _other_address(maps, refused)
        is_page = exception is None and 200 <= answer.status < 300
        if subject is Subject.UNKNOWN and answer.status not in _NOT_THERE and not is_page:
            yield from _by_trial(targets, refused)


def _other_address(maps: Maps, refused: Remedy) -> Iterator[Remedy]:
    """Yield the endpoint's own address instead of the given one, and the other way round."""
    target, manner = refused
    for url in (maps.endpoint, maps.given):
        if url is not None and url != manner.url:
            yield target, replace(manner, url=url)


def _other_systems(targets: Sequence[Target], refused: Remedy) -> Iterator[Remedy]:
    target, manner = refused
    later = targets[targets.index(target) + 1 :] if target in targets else ()
    yield from ((other, replace(manner, swapped=False)) for other in later)


def _other_styles(refused: Remedy) -> Iterator[Remedy]:
    target, manner = refused
    if target.styles:
        yield target, replace(manner, style=Style.NAMED)
    yield target, replace(manner, style=Style.NONE)


def _other_axes(refused: Remedy) -> Iterator[Remedy]:
    target, manner = refused
    if target.latitude_first:
        yield target, replace(manner, swapped=True)


def _by_trial(targets: Sequence[Target], refused: Remedy) -> Iterator[Remedy]:
    """Yield what often helps where nothing is known."""
    target, manner = refused
    yield target, replace(manner, transparent=False, dimension=Value.DEFAULT)
    if target.dimensions:
        yield target, replace(manner, transparent=False, dimension=Value.NONE)
    yield from _other_systems(targets, refused)
    yield from _other_axes(refused)
