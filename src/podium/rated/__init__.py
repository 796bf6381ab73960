"""Whole tables, rated at once or part by part."""

from podium.rated.parts import RatedParts, rate_stream
from podium.rated.rated import Rated
from podium.rated.rating import predict, rate

__all__ = ["Rated", "RatedParts", "predict", "rate", "rate_stream"]
