"""The crawl itself: the loop, a page's visit, a probe's visit, the scope, and the report of a run.

These modules know the other rooms by the protocols of `ports` alone.
"""
