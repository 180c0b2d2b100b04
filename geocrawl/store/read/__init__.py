"""Read the catalogue for people and programs: functions of a connection, which create and change nothing.

Statements are SQLAlchemy Core on the tables of `store/schema`. Plain SQL are those of `status.py` and `processes.py`,
which start in a moment because they import no tables, and those on the frontier's tables.
"""
