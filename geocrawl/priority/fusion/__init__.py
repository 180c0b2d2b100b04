"""`fusion`: the value of a link, learnt during the crawl from all evidence at once (the default strategy)."""
