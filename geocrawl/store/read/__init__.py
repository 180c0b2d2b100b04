"""Read the catalogue for people and programs, one file a question: status, show, why, search, history, export …

Statements are SQLAlchemy Core on the tables of `store/schema`. Plain SQL are those of `status.py`, which starts in a
moment because it imports no tables, and those on the frontier's tables: `runs.py`, `pages.py`, `seed_attribution.py`.
"""
