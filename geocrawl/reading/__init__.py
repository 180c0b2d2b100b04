"""Read large and odd answers in separate processes, so that none blocks the event loop (`ports.ReadingPool`).

`weight` decides which answers those are, `processes` hands them over, `job` runs in such a process, and `in_loop`
replaces them where every answer is read in the event loop.
"""
