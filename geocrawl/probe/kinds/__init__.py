"""Probe each kind of service: one file a kind, a folder where it has more than 600 lines.

A kind's module has `KIND`, the declaration of its signs; `interview`, which proves it; and, where a kind has maps,
tiles, features or records to request, `check_content` and `preview`. `registry` loads them by these names.
"""
