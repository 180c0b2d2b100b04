"""Tests of the room `browser`, with a real Chromium."""
