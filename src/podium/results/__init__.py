"""Read, check and complete results tables."""
