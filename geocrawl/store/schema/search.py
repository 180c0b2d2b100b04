"""Define the tables of the search index: facts of services in a short form, and the services that changed.

The words themselves are in `search_text`, a full-text index of SQLite (FTS5) whose `rowid` is a service's id;
`search_word` shows its vocabulary. `search_change` is written by triggers, so that no statement that changes a
service or an endpoint can forget it.
"""

from __future__ import annotations

from sqlmodel import Field, SQLModel

from geocrawl.store.search.columns import TEXT_COLUMNS


class SearchEntry(SQLModel, table=True):
    """What the search knows of a service besides its words and what other tables say; a service without a row is not
    in the index yet.
    """

    __tablename__ = "search_entry"
    service_id: int = Field(primary_key=True)
    systems: int
    """The reference systems of the service and its layers: a row of `search_list`."""
    formats: int
    """The media types of the service and its layers: a row of `search_list`."""
    country: str
    """Country of the service (ISO 3166-1, two letters), by its extent and its host's name; '' for none."""
    title_words: int
    """Number of words of the title."""
    words: int
    """Number of words of all texts."""
    completeness: int
    """Completeness of the service's metadata (title, abstract, provider, extent …), 0 to 100."""
    evidence: int
    """Number of link texts and addresses in `search_text`: with others the service is indexed anew."""


class SearchList(SQLModel, table=True):
    """A list of reference systems or media types, stored once for all services that have the same."""

    __tablename__ = "search_list"
    id: int = Field(primary_key=True)
    digest: str = Field(unique=True)
    """Hash of `items`."""
    items: str
    """JSON list, in order."""


class SearchChange(SQLModel, table=True):
    """The last change of a service, one of its endpoints or its entry in the index; also of a deleted service."""

    __tablename__ = "search_change"
    __table_args__ = {"sqlite_autoincrement": True}
    seq: int = Field(primary_key=True)
    """Number of the change: who has read up to a number asks for the higher ones."""
    service_id: int = Field(unique=True)


def _note_change(row: str) -> str:
    return f"DELETE FROM search_change WHERE service_id = {row}; INSERT INTO search_change (service_id) VALUES ({row});"  # noqa: S608 our own


_TEXT = f"""
CREATE VIRTUAL TABLE search_text USING fts5(
	{", ".join(TEXT_COLUMNS)},
	tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
)""".strip()
_WORDS = "CREATE VIRTUAL TABLE search_word USING fts5vocab(search_text, row)"
_OF_ENDPOINT = "service_id, status, health, level, url, deviations"
_TRIGGERS = (
    f"CREATE TRIGGER search_service_written AFTER UPDATE ON service BEGIN {_note_change('new.id')} END",
    f"CREATE TRIGGER search_service_deleted AFTER DELETE ON service BEGIN {_note_change('old.id')} END",
    f"CREATE TRIGGER search_entry_added AFTER INSERT ON search_entry BEGIN {_note_change('new.service_id')} END",
    f"CREATE TRIGGER search_entry_written AFTER UPDATE ON search_entry BEGIN {_note_change('new.service_id')} END",
    f"CREATE TRIGGER search_endpoint_written AFTER UPDATE OF {_OF_ENDPOINT} ON endpoint "
    f"WHEN new.service_id IS NOT NULL BEGIN {_note_change('new.service_id')} END",
    "CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON endpoint "
    "WHEN old.service_id IS NOT NULL AND old.service_id IS NOT new.service_id "
    f"BEGIN {_note_change('old.service_id')} END",
    "CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON endpoint "
    f"WHEN old.service_id IS NOT NULL BEGIN {_note_change('old.service_id')} END",
)
SEARCH_DDL = (_TEXT, _WORDS, *_TRIGGERS)
"""What SQLModel cannot declare: the virtual tables and the triggers, in the order of their creation."""
