"""Web pages for players and admins, complete in HTML and without required scripts."""
