"""`fusion`: rank links by a value learnt during the crawl from all evidence at once (the default strategy)."""
