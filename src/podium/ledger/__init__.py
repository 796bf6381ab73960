"""Tables calculated from ratings: the history, the leaderboard, explanations of changes, and forecasts."""
