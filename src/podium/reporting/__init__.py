"""Charts, curves of published systems, and the report."""
