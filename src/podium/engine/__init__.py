"""The engine: from a results table to every player's states, for any system."""
