"""The crawl itself: `loop` leases addresses and settles visits, `page_visit` and `probe_visit` make those visits.

`scope` says which addresses are left alone, `learning` feeds the strategy, `summary` and `report` say what a run did.
These modules know the other rooms by the protocols of `ports` alone.
"""
