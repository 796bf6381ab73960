"""What can be asked of a rating: its history, the leaderboard, the reason for each point, the chances of a field."""
