"""Events in lists: headlines, neighbours, and who moved most."""
