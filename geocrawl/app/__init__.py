"""What can be done with geocrawl, one file a use case: crawl, probe, harvest, maintain, explain.

`wiring.py` is the composition root: the one place that knows which class stands behind a port. `session.py` puts the
parts of one crawl on one database together.
"""
