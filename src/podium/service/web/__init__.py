"""Web pages for players and admins. Their HTML is complete, and needs no scripts."""
