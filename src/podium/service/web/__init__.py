"""Web pages for players and admins. They are complete as HTML and do not require scripts."""
