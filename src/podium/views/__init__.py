"""Responses as functions of a pool's columns: changes, boards, players, events."""
