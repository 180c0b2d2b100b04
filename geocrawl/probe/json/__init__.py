"""Do what kinds answered in JSON share: examine an answer, ask for JSON in several forms, follow links."""
