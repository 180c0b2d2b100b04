"""The steps from schema to schema, one numbered file each; the number of the last is `database.REVISIONS[-1]`."""
