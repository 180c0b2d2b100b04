"""One file a step, numbered; the last one's number is `database.REVISIONS[-1]`."""
