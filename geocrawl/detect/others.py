"""Name the kinds that are asked at an address where a guessed kind was refused with an exception of OGC's services.

An exception report proves that a service of some kind answers there. A page's words or a path named the wrong kind: a
MapServer that offers features only, a `…/wmts` that an anchor calls WMS, a report of OWS Common (OGC 06-121r9, 8) that
no WMS sends.
"""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.model import Kind

_COMMON = (Kind.WMTS, Kind.WCS, Kind.CSW)
"""Kinds that send a report of OWS Common like that of a WFS when they are asked for nothing."""
_INSTEAD: Mapping[Kind, Kind] = {
    Kind.WMS: Kind.WFS,
    Kind.WFS: Kind.WMS,
    Kind.WMTS: Kind.WMS,
    Kind.WCS: Kind.WMS,
    Kind.CSW: Kind.WMS,
}
"""The likeliest kind instead of a refused one."""


def kinds_instead(refused: Kind, of_address: Kind | None, *, by_report: bool) -> tuple[Kind, ...]:
    """Return the kinds to ask instead of a refused one; one request each, in most cases one kind.

    `of_address`: the kind that the address by itself reveals, if any. `by_report`: whether the refused kind was guessed
    from an exception report alone.
    """
    if refused not in _INSTEAD:
        return ()
    if of_address is not None and of_address is not refused:
        return (of_address,)
    if by_report and refused is Kind.WFS:
        return _COMMON
    return (_INSTEAD[refused],)
