"""Who may do what: keys, visitors, their sessions and forms."""
