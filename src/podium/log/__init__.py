"""The log and its parts: contents of events, pools, and players by number."""
