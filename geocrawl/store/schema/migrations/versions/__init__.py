"""Upgrade from schema to schema, one numbered file for each step; the last number is `database.REVISIONS[-1]`."""
