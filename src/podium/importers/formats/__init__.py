"""Formats of other programs, one in each file."""
