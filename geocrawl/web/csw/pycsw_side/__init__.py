"""Answer CSW by pycsw, in the interpreter that has pycsw.

These modules import nothing of geocrawl, which is not installed there.
"""
