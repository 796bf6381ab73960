"""Charts, curves of the published systems, and the report."""
