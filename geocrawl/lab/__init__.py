"""The laboratory: contests of strategies, recorded and made webs, and the training of models.

Nothing outside this package imports it: `geocrawl.cli` looks its commands up by name when it is installed. Crawling,
searching and the daemon work without it.
"""
