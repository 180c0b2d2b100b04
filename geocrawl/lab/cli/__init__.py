"""The laboratory's commands: `geocrawl evaluate`, `world` and `train`, one file each.

`geocrawl.cli.registry` names them and leaves them out where the laboratory is not installed.
"""
