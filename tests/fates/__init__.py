"""Ninety days of the daemon in virtual time, on services of sixty fates: is what the catalogue says of them true?

`fates` says what becomes of services, `web` answers as they do, `life` runs the real daemon (its scheduler, jobs, store
and notices) on them, and does to it what happens to daemons: kills, restarts, faults of the database, a wrong clock,
backups restored. `judge` compares the catalogue with the truth day by day, and the notices sent with those due.
`python -m tests.fates` runs it.
"""
