"""What is read of one event beyond its changes, and of a whole pool."""
