"""Name the columns of the search's full text, apart from the schema, whose import a search does not need."""

TEXT_COLUMNS = ("title", "keywords", "layers", "abstract", "provider", "found", "address")
"""Columns of `search_text`; `found`: texts of the links that led to the service."""
