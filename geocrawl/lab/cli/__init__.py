"""Implement the laboratory's commands: `geocrawl evaluate`, `world` and `train`, one file each.

`geocrawl.cli.registry` names these commands and omits them where the laboratory is not installed.
"""
