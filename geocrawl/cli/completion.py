"""Complete values of options in the shell: kinds, formats, countries, strategies."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from typer.models import ParameterInfo

_CHOICES = re.compile(r"[a-z0-9%-]+(?:\|[a-z0-9%-]+)+")
"""A metavar that lists what may be given: table|json|jsonl."""


def with_values(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command, whose options with known values complete them."""
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        for info in (parameter.default, *getattr(parameter.annotation, "__metadata__", ())):
            if not isinstance(info, ParameterInfo) or info.autocompletion is not None:
                continue
            if _CHOICES.fullmatch(metavar := info.metavar or ""):
                info.autocompletion = _completing(metavar.split("|"))
            elif name in _VALUES:
                info.autocompletion = _completing(_VALUES[name])
    return function


def _completing(values: Iterable[str] | Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes the last of values with commas between them."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        known: Any = values() if callable(values) else values
        return [f"{before}{comma}{each}" for each in known if each.lower().startswith(last.lower())]

    return complete


def _kinds() -> Iterator[str]:
    from geocrawl.model import Kind

    yield from map(str, Kind)


def _levels() -> Iterable[str]:
    from geocrawl.store.catalogue.search.filters import LEVELS

    return LEVELS


def _orders() -> Iterator[str]:
    from geocrawl.store.catalogue.search.filters import Sort

    yield from map(str, Sort)


def _countries() -> Iterable[str]:
    from geocrawl.store.catalogue.search.places import shipped_places

    return sorted(code for code, place in shipped_places().by_code.items() if place.is_country)


def _strategies() -> Iterable[str]:
    from geocrawl.priority.registry import STRATEGIES

    return STRATEGIES


_VALUES: Mapping[str, Callable[[], Iterable[str]]] = {
    "kind": _kinds,
    "level": _levels,
    "sort": _orders,
    "country": _countries,
    "strategy": _strategies,
}
"""Name of a parameter → its values, read when they are asked for."""
