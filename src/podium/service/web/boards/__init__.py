"""Pages that list: the leaderboard, how ratings are spread, the events, and who was found by name."""
