"""The daemon: crawls within its budget, probes services again when they are due, and maintains the database.

`service` is the main loop, one daemon a database. Due times are stored in the tables, not in the process: `ticks` lists
the times at which `jobs` reads what is due and queues it for the crawl loop. `budgeted_crawl` runs that loop within
`budget`, and `daily_stats` counts its visits. `outage` and `network` detect that this machine's network is away and
undo the effects, `notify` reports to systemd. `app.retry_policy` waits for a database that cannot be written. All time
comes from the Clock.
"""
