"""The log and its parts: event contents, pools and players, indexed by number."""
