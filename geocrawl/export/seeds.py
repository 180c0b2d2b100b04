"""Write a file of addresses that `geocrawl seeds add --file` reads: the services, each with its title as a comment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from geocrawl.export.properties import name_of
from geocrawl.model.published import PublishedService

_MASK = "***"


def write_seeds(services: Iterable[PublishedService], stream: TextIO) -> int:
    """Write the addresses of services, one a line; return their number.

    An address with a masked key is left out, since nobody can ask it.
    """
    stream.write("# Services of a catalogue of geocrawl. Read them with: geocrawl seeds add --file FILE\n")
    count = 0
    for service in services:
        if _MASK not in service.url:
            stream.write(f"# {name_of(service)}\n{service.url}\n")
            count += 1
    return count
