"""The daemon: crawls within its budget, asks services again when they are due, and looks after the database.

What is due stands in the tables, not in the process: `service` is the loop that one daemon a database runs, `ticks` the
named moments at which `work` looks what is due and puts it into the frontier, where the crawl's own loop takes it from.
`budget` says how much may be done when, `figures` counts what happens, `notify` tells systemd how we are.
`app.retry_policy` waits for a database that cannot be written, `outage` notices that the network is away. All time comes
through the Clock.
"""
