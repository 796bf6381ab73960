"""Web pages for players and admins. They are complete in HTML and do not require scripts."""
