"""Matchmaking: group waiting players, balance teams, and simulate policies."""
