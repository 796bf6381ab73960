"""Boards of now and of earlier days, and the search for players."""
