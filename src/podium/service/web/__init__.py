"""The web pages: what players and admins look at, complete as HTML and without a script."""
