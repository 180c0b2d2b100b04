"""Tell people of changes: signed webhooks, mails, and lines in a file.

`delivery` writes what happened and chooses who delivers it: `webhook`, `mail`, or a file. A failure is a value: the
text of what went wrong, '' for a message that arrived. `store.upkeep.watches` decides what is told.
"""
