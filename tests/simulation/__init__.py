"""Simulate a crowd of crawlers on one database: one thread, virtual time, and a seed that decides all that chance may.

A run of a `scenario.Scenario` is this: crawlers (`crawler`), each made by `app.wiring` as a process of its own would
make it, work on one database (`database`) and one made web (`web`, `network`) in one event loop (`scheduler`), which
chooses by the seed whose step is next. Processes are killed, paused and started again, clocks are wrong, the database
is locked, full or away (`faults`). While they run, a watch looks for idleness and for attempts in vain; in the end a
last crawler visits what is left (`run`), and `checks` compares all with what one undisturbed crawler finds.

Nothing here reads the machine's clock, so a seed that fails fails again: `python -m tests.simulation --seed N --trace`.
`network` alone knows the transport of `fetch`, `processes` alone how the store names processes.
"""
