"""Charts, curves of the published texts, and the report."""
