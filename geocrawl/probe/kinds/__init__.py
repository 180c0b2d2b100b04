"""Probe each kind of service: one file a kind, a folder where it has more than 400 lines.

A kind's module has `KIND`, the declaration of its signs; `PROBE`, which proves it; and `CONTENT_CHECK`, the class that
checks its content, where a kind has maps, tiles, features or records to request. `registry` loads them by these names.
"""
