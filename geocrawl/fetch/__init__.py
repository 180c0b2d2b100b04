"""The room for fetch."""
