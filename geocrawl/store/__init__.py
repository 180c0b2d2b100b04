"""What a crawl knows, in one SQLite file: the frontier, the catalogue, what robots.txt said, how hosts stand.

`tables/` describes the schema, `migrations/` makes it, `database.py` opens it. A crawl writes through plain statements
(`statements.py`) on one connection: `frontier.py` opens and closes the transactions in which `leases.py` says who is
next and `settle.py` writes what a visit brought; `catalog.py` keeps what probes proved. People and other programs read
through `reading.py`, which opens the file read-only, and the modules beside it that bear the names of the commands:
`status.py`, `show.py`, `why.py`, `search.py`, `history.py`. They create nothing and import neither SQLModel nor
Alembic.
"""
