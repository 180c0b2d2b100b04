"""The crawl loop: `loop` leases addresses and settles visits, `page_visit` and `probe_visit` make those visits.

`scope` decides which addresses are not visited, `learning` feeds the strategy, `summary` and `report` describe a run.
These modules know the other rooms by the protocols of `ports` alone.
"""
