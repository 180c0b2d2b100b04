"""Compare strategies side by side on recorded webs, without a socket.

`contest` runs every strategy on every web, `run` a single crawl: as people run it, with a recorded web in place of the
network (`recorded_worlds`). `measure` counts what a crawl found and when, `oracle` what could be found, `judge` gives a
second opinion on pages; `table`, `results`, `plots` and `report` write it down, `papers` compares it with the papers.
"""
