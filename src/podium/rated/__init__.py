"""Whole tables, rated at once or part by part."""

from podium.rated.parts import RatedParts
from podium.rated.rated import Rated
from podium.rated.rating import predict, rate
from podium.rated.streaming import RatedStream, rate_stream

__all__ = ["Rated", "RatedParts", "RatedStream", "predict", "rate", "rate_stream"]
