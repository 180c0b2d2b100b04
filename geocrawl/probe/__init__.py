"""The room for probe."""
