"""Keep what a crawl knows, in one SQLite file: the frontier, the catalogue, robots.txt, the state of hosts.

`store.py` opens a database by its URL and gives its parts; other rooms use nothing else of this package but values.

- `schema/` describes the tables and migrates older files;
- `engine/` opens the file, runs transactions and translates SQLite's errors;
- `frontier/` decides which URL is next and writes what a visit brought;
- `catalog/` writes what probes found out about services;
- `queries/` reads for people and programs: modules named after commands, which create and change nothing;
- `operations/` is what operators do: backup, opt-out, retention, start pages.
"""
