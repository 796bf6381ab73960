"""The log, and what it needs: contents of events, pools, and the players by number."""
