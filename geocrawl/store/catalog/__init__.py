"""Write the catalogue: endpoints, services, layers, health, content reports, and which endpoints are one service.

Statements are SQLAlchemy Core on the tables of `store/schema`, run on the frontier's connection inside its transaction
(`Connection.run`). `catalog.py` is what the frontier's settlement calls; the other files are its parts.
"""
