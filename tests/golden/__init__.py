"""Golden runs: what people see of geocrawl, as texts, so that a change of the inside shows what it changes outside.

`parts` lists what is run; `expected/` has a readable file for each run, and `ledger.tsv` its hash and the reason of its
last change. `python -m tests.golden diff [NAME…]` shows differences line by line, `python -m tests.golden accept NAME…
--reason "…"` takes what comes out now. A kept text is short (`layout`): of an order twenty addresses, of a list four
items, and a hash of the others. `show NAME` prints all of it, and `diff NAME --against COMMIT` compares all of it with
what that commit makes. Runs drive commands, the web server and the views for SQL; the only modules of
geocrawl that they import are named in `replay.py`, `catalogue.py` and `tests/support/commands.py`.
"""
