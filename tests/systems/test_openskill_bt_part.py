"""BradleyTerryPart compared with the openskill package after each event."""

import pytest
from openskill.models import BradleyTerryPart
from weng_lin import assert_agrees_with_the_package


@pytest.mark.parametrize("seed", range(6))
def test_ratings_equal_the_openskill_package(seed):
    assert_agrees_with_the_package("openskill-bt-part", BradleyTerryPart(), seed)
