"""Read recorded webs: their pages (WARC), their services and the truth about them; replay them in virtual time."""
