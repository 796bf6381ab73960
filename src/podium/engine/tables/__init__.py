"""Turn a results table into arrays of events, entrants, places and weights."""
