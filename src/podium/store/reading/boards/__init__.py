"""Boards and searches."""
