"""Run the crawl: `loop` leases addresses and settles visits, `page_visit` and `probe_visit` make the visits.

`scope` decides which addresses are not visited, `learning` passes feedback to the strategy, `report`
describe a run. These modules use other packages only through the protocols of `ports`.
"""
