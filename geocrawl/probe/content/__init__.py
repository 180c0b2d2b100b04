"""Judge what a valid service gives when it is asked for content: images, features, errors; and report it."""
