"""The daemon: crawls within its budget, probes services again when they are due, and maintains the database.

`service` schedules the jobs, one daemon a database, among them those of `jobs`, which queue what is due: due times are
stored in the tables, not in the process. It runs the crawl loop within the hours, pages and bytes a day of `budget`,
which counts its visits; `notify` reports to systemd. `app.retry_policy` waits for a database that cannot be
written. All time comes from the Clock.
"""
