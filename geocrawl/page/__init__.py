"""The room for page."""
