"""The contest: strategies side by side on recorded webs, without a socket.

`worlds` reads a recorded web, `services` answers for its map services, `replay` is the transport that stands in the
network's place; everything above it is the crawl that people run. `measure` counts what a crawl found and when,
`study` what the web itself holds, `run` and `contest` bring them together, the rest writes it down.
"""
