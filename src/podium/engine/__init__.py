"""The engine: compute the states of all players from a results table, with any system."""
