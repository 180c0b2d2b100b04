"""Keep the search index and read it: the words of services in a full-text index, and short facts beside them.

All SQL of the index is in this package: `writer` adds a service's words when it is settled, `upkeep` those that are
missing, `index` is what the search asks (`geocrawl.search.port.SearchIndex`). The words are in SQLite's FTS5 or, by
`postgres`, in PostgreSQL.
"""
