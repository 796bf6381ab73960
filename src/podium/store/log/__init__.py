"""The truth: what was sent, by whom, and who the players are."""
