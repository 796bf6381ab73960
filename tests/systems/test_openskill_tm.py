"""ThurstoneMostellerFull of the openskill package, event after event."""

import math

import pytest
from openskill.models import ThurstoneMostellerFull
from openskill.models.weng_lin import common
from weng_lin import assert_agrees_with_the_package


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_openskill_package(seed, monkeypatch):
    """With the distribution function that the package takes from Python before 3.14."""
    monkeypatch.setattr(common, "phi_major", lambda x: 0.5 * (1.0 + math.erf(x / math.sqrt(2.0))))
    # Full pairing of normal performances throws ratings far apart, where the package's distribution function has
    # few digits left and two roundings part; the other four agree over any number of events.
    assert_agrees_with_the_package("openskill-tm", ThurstoneMostellerFull(), seed, count=12)
