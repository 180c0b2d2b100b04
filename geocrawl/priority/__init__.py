"""The room for priority."""
