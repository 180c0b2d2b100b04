"""List query parameters that do not identify a page or an endpoint, from `geocrawl/data/url_parameters.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

# 16 letters and digits of both kinds: PHP, Java and ASP.NET draw 22 to 40; a number of a station or section is shorter.
_RANDOM = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_-]{16,}")


@dataclass(frozen=True, slots=True)
class Names:
    """A set of lower-case parameter names, some of them stored as prefixes."""

    exact: frozenset[str]
    prefixes: tuple[str, ...]

    def __contains__(self, name: str) -> bool:
        return name in self.exact or name.startswith(self.prefixes)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Names of parameters that are noise in a page's identity, and of those that belong to one request of a service."""

    noise: Names
    """Tracking parameters and session ids."""
    session: Names
    session_if_random: Names
    """Names that are session ids only when their value looks random."""
    request: Names
    """Parameters of one request of a service that is requested by a query."""
    rest_request: Names
    """Parameters of one request of a service that is requested by a path."""

    def is_noise(self, name: str, value: str) -> bool:
        """Return whether a query parameter identifies the visitor or referrer, not the content. `name` in any case."""
        name = name.lower()
        return name in self.noise or (name in self.session_if_random and _RANDOM.fullmatch(value) is not None)


@lru_cache(maxsize=1)
def load_parameters() -> Parameters:
    """Return the lists that come with geocrawl; the file is read once."""
    import tomllib

    lists = tomllib.loads(resources.files("geocrawl").joinpath("data/url_parameters.toml").read_text("utf-8"))
    return Parameters(
        noise=_names([*lists["tracking"], *lists["session"]]),
        session=_names(lists["session"]),
        session_if_random=_names(lists["session_if_random"]),
        request=_names(lists["request"]),
        rest_request=_names(lists["rest_request"]),
    )


def _names(entries: Sequence[str]) -> Names:
    lowered = [entry.lower() for entry in entries]
    return Names(
        exact=frozenset(e for e in lowered if not e.endswith("*")),
        prefixes=tuple(e[:-1] for e in lowered if e.endswith("*")),
    )
