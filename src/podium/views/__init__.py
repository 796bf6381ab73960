"""Responses calculated from a pool's columns: changes, boards, players and events."""
