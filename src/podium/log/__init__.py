"""The log and its parts: event contents, pools, and players by number."""
