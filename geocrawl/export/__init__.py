"""Write the catalogue for other software: endpoints as tables (`endpoints`), services for maps (`services`).

Rows come from the store one at a time, so that memory does not grow with the catalogue. Control characters in text from
the web are removed, times are ISO 8601 in UTC, files are replaced atomically. docs/export.md describes the columns.
"""
