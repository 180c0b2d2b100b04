"""Say what a full-text index of services does, and choose that of a database's engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from geocrawl.store.catalogue.index import postgres, sqlite
from geocrawl.store.catalogue.search.port import Numbers, Phrase
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.steps import ChunkedWork


class FullText(Protocol):
    """The full-text index of an engine: the module of its name."""

    COLUMNS: tuple[str, ...]
    """Columns of a row of `search_text`."""

    def text_row(self, number: int, texts: Mapping[str, str]) -> tuple[int | str, ...]:
        """Return the row of `search_text` for the folded texts of a service, by column."""

    def match(self, connection: Connection, phrases: Sequence[Phrase], columns: Sequence[str]) -> Numbers:
        """Return the ids of the services in which one of the phrases occurs, in the named columns or in any."""

    def vocabulary(self, connection: Connection) -> Mapping[str, int]:
        """Return the words without digits, with the number of services that have them."""

    def is_sound(self, database: Database) -> bool:
        """Return whether the index agrees with its own texts, as far as the engine can tell."""

    def clear(self, connection: Connection) -> None:
        """Take all rows out of `search_text`, also where its parts are damaged."""

    def merge_segments(self, database: Database, few: int) -> ChunkedWork[None]:
        """Make one part of an index that is in more than `few`."""


_OF_ENGINE: Mapping[str, FullText] = {"sqlite": sqlite, "postgresql": postgres}


def full_text(connection: Connection) -> FullText:
    """Return the full-text index of a connection's engine."""
    return _OF_ENGINE[connection.engine]
