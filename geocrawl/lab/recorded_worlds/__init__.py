"""Read recorded webs: their pages (WARC), their services and the truth about them; replay them in virtual time.

Nothing here knows `contest`, which measures crawls of these webs.
"""
