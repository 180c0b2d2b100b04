"""What kinds answered in JSON share: examining an answer, asking for JSON in several forms, following links."""
