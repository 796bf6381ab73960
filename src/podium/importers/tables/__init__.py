"""Tables of any shape as results tables, by a map of their columns: one that is given, or one that is guessed."""
