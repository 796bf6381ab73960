"""Whole tables, rated at once."""

from podium.rated.rated import Rated

__all__ = ["Rated"]
