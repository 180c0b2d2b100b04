"""Read the catalogue for people and programs, one file a question: status, show, why, search, history …"""
