"""XML, JSON and character sets: helpers that read strangers' documents for `page` and `probe` alike.

Nothing here knows a kind of service or does I/O. Every reader takes bytes or values of any content, bounds what it
reads, and never raises because of it.
"""
