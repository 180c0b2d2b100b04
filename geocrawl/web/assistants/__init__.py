"""Let assistants read the catalogue by the Model Context Protocol: `tools.py` answers, `server.py` speaks the protocol.

Nothing is written, and no service is requested. Every answer is bounded, and masked as the pages are.
"""
