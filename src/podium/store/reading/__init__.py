"""Read boards, players, events and pools. Each response shows a single point in time."""
