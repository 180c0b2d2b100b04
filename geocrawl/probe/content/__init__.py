"""Judge the answers of valid services to requests for content (images, features, errors), and report the result."""
