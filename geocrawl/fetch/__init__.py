"""Asking the web: one polite HTTP exchange after another, every one bounded in bytes, time and memory.

`fetcher.py` is the port (`PoliteFetcher`, a turn for each leased host: delay, robots.txt, redirects); `http.py` makes
one exchange; `transport.py` holds the connections and sends addresses byte for byte; `guard.py` decides which network
addresses may be connected; `proxy.py` which proxy is taken; `content.py` which answers are worth their body;
`decode.py` unpacks it within limits; `robots.py` reads robots.txt; `politeness.py` is the table of what an answer means
for its host; `failures.py` names the cause when there is none. A web failure leaves this room as a `Failure`, never as
an exception.
"""
