"""The log and its parts: the contents of events, pools, and players by number."""
