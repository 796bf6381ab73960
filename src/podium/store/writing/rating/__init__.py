"""Ratings that derive from the log: planned, rated, rated again, compared."""
