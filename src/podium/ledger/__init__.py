"""What follows from ratings: the history, the leaderboard, the reason for each point, the chances of a field."""
