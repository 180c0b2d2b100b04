"""Compare strategies side by side on recorded webs, without a socket.

`contest` runs every strategy on every web. `run` runs a single crawl as people run it, with a recorded web in place of
the network (`recorded_worlds`). `study` reads the truth about a web, `oracle` computes how early everything could be
found, `judge` classifies pages independently of all strategies. `measure` counts what a crawl found and when;
`recorded_crawls` does so for a recording, which has no truth. `table`, `results`, `plots` and `report`
write the results. `papers` states what was published, `experiments` runs it, `rates`, `cuts` and `link_classes` are
measures of it, `claims` holds it against the results, and `papers_report` writes that. `sample` has a person judge
pages.
"""
