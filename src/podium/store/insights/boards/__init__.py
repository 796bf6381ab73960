"""Boards of those who are listed: rows, ranks among each other, moves and curves."""
