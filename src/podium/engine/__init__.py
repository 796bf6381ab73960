"""The engine, which turns a results table into the states of all players, for any system."""
