"""ThurstoneMostellerFull compared with the openskill package after each event."""

import math

import pytest
from openskill.models import ThurstoneMostellerFull
from openskill.models.weng_lin import common
from weng_lin import assert_agrees_with_the_package


@pytest.mark.parametrize("seed", range(6))
def test_ratings_equal_the_openskill_package(seed, monkeypatch):
    """Both use the normal distribution function that the package has before Python 3.14."""
    monkeypatch.setattr(common, "phi_major", lambda x: 0.5 * (1.0 + math.erf(x / math.sqrt(2.0))))
    # Normal performances compared in all pairs drive ratings far apart. There the package's distribution function has
    # few digits left, so rounding differs. The other four models agree over any number of events.
    assert_agrees_with_the_package("openskill-tm", ThurstoneMostellerFull(), seed, count=12)
