"""Write the catalogue: endpoints, services, layers, health, content reports, and which endpoints are one service."""
