"""The engine, which turns a results table into the states of every player, for any system."""
