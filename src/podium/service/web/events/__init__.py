"""The page of an event: its result, the reasons of one change, and what became of it."""
