"""What is read: boards, players, events and matches as they stand."""
