"""Reads large and odd answers in processes of their own, so that none holds up the event loop (`ports.ReadingPool`).

`weight` decides which answers those are, `processes` hands them over, `job` is what runs in a process, `in_loop` stands
in its place where all is read in the loop.
"""
