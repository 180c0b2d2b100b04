"""The research bench: contests of strategies, recorded and made webs, and the training of models.

Nothing outside this package imports it but its own commands; the daemon works in an installation without it.
"""
