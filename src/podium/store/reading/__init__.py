"""Read boards, players, events and pools. Each response shows the data at a single point in time."""
