"""What can be done to a pool, looked at before it is done: it is done as it was seen, or not at all."""
