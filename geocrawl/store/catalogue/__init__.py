"""The catalogue: verdicts, services, layers and their health, written, read, indexed and searched."""
