"""Chances in the gamma performance model, as its publication writes them down."""

import math

import numpy as np

from podium.probability import ranks
from podium.probability.gamma import incomplete_beta, performances


def win_probability(rating, opponent, shape=3):
    """The chance to beat an opponent: I(W; g, g), W the logistic of the slope times the difference of the ratings."""
    mine, theirs = performances([rating, opponent], shape).log_rate
    w = 1.0 / (1.0 + math.exp(min(theirs - mine, 700.0)))
    return float(incomplete_beta(w, float(shape)))


def rank_distribution(ratings, shape=3, resolution=None):
    """The chance of each entrant to finish at each rank; those who tie by the clock share the best."""
    field = performances(ratings, shape)
    return ranks.rank_distribution(field) if resolution is None else ranks.tied_rank_distribution(field, resolution)


def top_probabilities(ratings, top=1, shape=3):
    return rank_distribution(ratings, shape)[:, :top].sum(axis=1)


def race_strength(ratings, top=5, probe=1500.0, shape=3):
    """One over the chance of a player rated `probe`, added to the field, to finish among the first `top`."""
    return ranks.field_strength(performances([*np.asarray(ratings, float).tolist(), probe], shape), top)
