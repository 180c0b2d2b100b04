"""The room for store."""
