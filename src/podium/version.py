"""Podium's version, alone, so that every layer can write it down."""

__version__ = "0.1.0"
