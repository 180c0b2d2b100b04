"""Tell people of changes: signed webhooks, mails, and lines in a file.

`message` says what happened, `webhook`, `mail` and `journal` deliver it, `delivery` chooses among them. A failure is a
value: the text of what went wrong, '' for a message that arrived. `store.upkeep.watches` decides what is told.
"""
