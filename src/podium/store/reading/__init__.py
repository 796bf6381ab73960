"""Boards, players, events and pools as they are read, each answer of one moment."""
