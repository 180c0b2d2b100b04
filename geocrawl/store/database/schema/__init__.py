"""Define the schema: every table of the database, with the meaning of its columns.

Times are seconds since 1970 UTC (`datetime(settled_at, 'unixepoch')` in SQL), durations have their unit in the name,
lists and mappings are JSON, flags are 0 and 1, boxes are WGS 84 degrees. NULL means unknown or not yet.

A class of SQLModel describes each table and has its name. New databases are made from the classes
(`store/database/sqlite/layout.py`, `store/database/postgres/layout.py`), `migrations/` upgrades older ones, and
`make schema` writes the tables' part of docs/database.md. Importing the classes takes 0.25 s, so
statements have the tables from `tables.py`, which is written from them, too.
"""

TEXT_COLUMNS = ("title", "keywords", "layers", "abstract", "provider", "found", "address")
"""Columns of `search_text`; `found`: texts of the links that led to the service."""
GUESSED = 2
"""`endpoint.weak` of an endpoint that nobody named: guessed next to a valid one, or beneath a portal."""
