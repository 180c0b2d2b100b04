"""The daemon: crawls within its budget, probes services again when they are due, and maintains the database.

What is due stands in the tables, not in the process. `service` is the main loop, one daemon a database. `ticks` names
the moments at which `jobs` looks up what is due and queues it for the crawl's own loop. `budgeted_crawl` runs that loop
within `budget`, `daily_stats` counts what it does, `outage` and `network` detect that this machine's network is away
and undo what that changed, `notify` reports to systemd. `app.retry_policy` waits for a database that cannot be written.
All time comes through the Clock.
"""
