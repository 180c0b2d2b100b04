"""Compare strategies side by side on recorded webs, without a socket.

`contest` runs every strategy on every web. `run` runs a single crawl as people run it, with a recorded web in place of
the network (`recorded_worlds`). `measure` counts what a crawl found and when, `oracle` computes how early everything
could be found, `judge` classifies pages independently of all strategies. `table`, `results`, `plots` and `report` write
the results, and `papers` compares the results with published ones.
"""
