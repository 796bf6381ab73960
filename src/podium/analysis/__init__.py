"""Judging, tuning, auditing and simulating systems."""
