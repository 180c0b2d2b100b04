"""Keep the search index and read it: the words of services in a full-text index, and short facts beside them.

All statements of the index are in this package: `writer` adds a service's words when it is settled, `upkeep` those that
are missing, `index` is what the search asks (`geocrawl.search.port.SearchIndex`). The words are in SQLite's FTS5
(`sqlite`) or in PostgreSQL (`postgres`): `full_text` chooses.
"""
