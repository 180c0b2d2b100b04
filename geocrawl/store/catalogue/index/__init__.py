"""The index of the search over a catalogue: words and facts of services, and the words of their layers.

All statements of the index are in this package: `writer` adds a service's words when it is settled, `upkeep` those
that are missing, `index` implements `search.port.SearchIndex`. The words are in SQLite's FTS5 (`sqlite`) or in
PostgreSQL (`postgres`): `full_text` chooses.
"""
