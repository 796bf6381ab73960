"""ThurstoneMostellerPart of the openskill package, event after event."""

import pytest
from openskill.models import ThurstoneMostellerPart
from weng_lin import assert_agrees_with_the_package


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_openskill_package(seed):
    assert_agrees_with_the_package("openskill-tm-part", ThurstoneMostellerPart(), seed)
