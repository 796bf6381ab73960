"""Matchmaking: groups of waiting players, balanced teams, and a simulator for policies."""
