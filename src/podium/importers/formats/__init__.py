"""The formats of other programs, each in its own module."""
