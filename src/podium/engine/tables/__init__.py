"""From a results table to arrays of events, entrants, places and weights."""
