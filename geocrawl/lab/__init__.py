"""Compare strategies, replay recorded webs, make webs and train models: the laboratory.

No other package imports this one: `geocrawl.cli` looks the commands of `lab` up by name where `lab` is installed.
Crawling, searching and the daemon work without `lab`.
"""
