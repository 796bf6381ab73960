"""The results table: read, checked, and completed."""
