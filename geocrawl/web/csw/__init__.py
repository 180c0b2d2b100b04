"""CSW 2.0.2 and 3.0 by pycsw, in a process and a Python environment of its own.

pycsw needs an OWSLib older than geocrawl's, so the two cannot share an environment. `process` starts and watches the
other process; `pycsw_side` is what runs there.
"""
