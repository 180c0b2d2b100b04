"""The use cases of geocrawl, one file each: crawl, probe, harvest, maintain, explain.

`wiring.py` and `fetchers.py` are the composition root: they choose the classes that implement the ports. `session.py`
defines the parts of one crawl on one database.
"""
