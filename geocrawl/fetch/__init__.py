"""Fetch from the web: one polite HTTP exchange after another, each bounded in bytes, time and memory.

`fetcher` implements the port (`PoliteFetcher`, with a turn for each leased host: delay, robots.txt, redirects); `http`
makes one exchange over a `transport`, which is `connections` to the network or, wrapped around them, `record` to a WARC
file; `guard` decides which network addresses may be connected, `proxy` which proxy is used, `answer_reader` which
answers are worth their body; `decode` decompresses it within limits; `robots` reads robots.txt; `politeness` is the
table of what an answer means for its host; `failures` names the cause when there is no answer. A web failure leaves
this room as a `Failure`, never as an exception.
"""

import sys

# Without it httpx imports its command line, and with it click and Pygments, at each start.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # importing it fails, as httpx foresees
