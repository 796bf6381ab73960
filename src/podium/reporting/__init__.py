"""Charts, and curves of published systems."""
