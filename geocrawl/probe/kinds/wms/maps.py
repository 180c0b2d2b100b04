"""Make GetMap requests of one service (WMS 1.3.0, 7.3; 1.1.1, 7.2; 1.0.0, 6.2.8) in a manner that can be changed.

The first manner is the standard's, with what the document gives: the address of GetMap, a format that can be decoded,
the dimensions' defaults. `remedies` changes it after a refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from geocrawl.model import NOT_PERMITTED, Dimension, Failure, FailureCode, Page, Purpose, Service, Url
from geocrawl.ports import Ask
from geocrawl.probe.content.attempts import MAX_ADDRESS_CHARS
from geocrawl.probe.content.exceptions import Subject, Value, exception_of, value_of
from geocrawl.probe.content.images import decodable
from geocrawl.probe.extents import image_size
from geocrawl.probe.interview import named_for
from geocrawl.probe.kinds.wms.places import Target
from geocrawl.probe.ows.addresses import given_address
from geocrawl.urls import request_url, with_parameters

_STANDARD_DIMENSIONS = frozenset({"time", "elevation"})


class Style(StrEnum):
    """What is sent as style."""

    EMPTY = "empty"
    """STYLES without a value: the layer's default style."""
    NAMED = "named"
    NONE = "none"
    """No STYLES at all."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a service is asked for maps."""

    url: Url
    format: str
    dimension: Value = Value.DEFAULT
    style: Style = Style.EMPTY
    transparent: bool = True
    swapped: bool = False
    """Whether the axes are swapped against the standard."""


@dataclass(frozen=True, slots=True)
class Maps:
    """Makes GetMap requests of one service."""

    endpoint: Url
    service: Service

    @property
    def given(self) -> Url | None:
        """Return the address that the document gives for GetMap, if it is another one."""
        return given_address(self.endpoint, self.service.content_address)

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the formats to ask for, the first choice first; PNG where none is offered that can be decoded."""
        return decodable(self.service.formats) or ("image/png",)

    def first_manner(self) -> Manner:
        """Return the manner in which the first map is requested.

        An address of another origin is the second choice: ports are often closed behind proxies, a closed port ends the
        turn of its host, and another host has to be leased.
        """
        given = self.given
        is_open = given is not None and given.origin == self.endpoint.origin
        return Manner(given if given is not None and is_open else self.endpoint, self.formats[0])

    def ask(self, target: Target, manner: Manner, *, version: str = "", swapped: bool | None = None) -> Ask:
        """Return the request for a target; `version`: another than the service's; `swapped`: other than `manner`'s."""
        is_swapped = manner.swapped if swapped is None else swapped
        return Ask(self._url(target, manner, version or self.service.version, swapped=is_swapped), Purpose.MAP)

    def is_too_long(self, target: Target, manner: Manner) -> bool:
        """Return whether the layer's name makes an address longer than servers accept."""
        url = self._url(target, manner, self.service.version, swapped=False)
        return len(url.address) > MAX_ADDRESS_CHARS

    def _url(self, target: Target, manner: Manner, version: str, *, swapped: bool) -> Url:
        parameters = named_for(self.service, _parameters(target, manner, version, swapped=swapped))
        if manner.url == self.endpoint:
            return request_url(self.endpoint, parameters)
        return with_parameters(manner.url, parameters)


def _parameters(target: Target, manner: Manner, version: str, *, swapped: bool) -> Mapping[str, str]:
    width, height = image_size(target.sides)
    is_new, is_oldest = version.startswith("1.3"), version.startswith("1.0")
    west, south, east, north = target.sides
    turned = target.latitude_first and is_new and not swapped
    sides = (south, west, north, east) if turned else target.sides
    style = target.styles[0] if manner.style is Style.NAMED and target.styles else ""
    return {
        **({"WMTVER": version, "REQUEST": "map"} if is_oldest else {"SERVICE": "WMS", "VERSION": version}),
        **({} if is_oldest else {"REQUEST": "GetMap"}),
        "LAYERS": target.layer,
        **({"STYLES": style} if manner.style is not Style.NONE else {}),
        "CRS" if is_new else "SRS": target.crs,
        "BBOX": ",".join(f"{side:.9g}" for side in sides),
        "WIDTH": str(width),
        "HEIGHT": str(height),
        "FORMAT": manner.format,
        **({"TRANSPARENT": "TRUE"} if manner.transparent and not _is_opaque(manner.format) else {}),
        **_dimension_values(target.dimensions, manner.dimension),
    }


def _is_opaque(format_: str) -> bool:
    """Return whether images of a format have no transparency: some servers refuse TRANSPARENT=TRUE with it."""
    return format_.partition(";")[0].strip().lower() in ("image/jpeg", "image/jpg")


def _dimension_values(dimensions: tuple[Dimension, ...], which: Value) -> dict[str, str]:
    """Return the parameters of dimensions (1.3.0, C.3.2): TIME, ELEVATION, DIM_name."""
    found = {}
    for dimension in dimensions:
        name = dimension.name.upper()
        if value := value_of(dimension, which):
            found[name if name.lower() in _STANDARD_DIMENSIONS else f"DIM_{name.removeprefix('DIM_')}"] = value
    return found


# --------------------------------------------------------------------------- remedies
# A service exception names what it refuses, by its code or its words; then only that is changed. A failure that names
# nothing may have any cause: the address, an optional parameter, the order of the axes, the reference system.


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
