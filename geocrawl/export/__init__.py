"""The room for export."""
