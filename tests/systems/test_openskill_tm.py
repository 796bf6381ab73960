"""ThurstoneMostellerFull of the openskill package, event after event."""

import pytest
from openskill.models import ThurstoneMostellerFull
from weng_lin import assert_agrees_with_the_package


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_openskill_package(seed):
    # Full pairing of normal performances throws ratings far apart, where the package's distribution function has
    # few digits left and two roundings part; the other four agree over any number of events.
    assert_agrees_with_the_package("openskill-tm", ThurstoneMostellerFull(), seed, count=12)
