"""Write the catalogue: endpoints, services, layers, health, content reports, and which endpoints are one service.

Statements run on the frontier's connection inside its transaction. `catalog.py` is
what the frontier's settlement calls; the other files are its parts.
"""
