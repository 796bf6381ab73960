"""The five systems of Weng and Lin, whose types look alike."""

import pytest

import podium
from podium.systems import names

FAMILY = [name for name in names() if name.startswith("openskill-")]


@pytest.mark.parametrize("name", FAMILY)
def test_two_processes_share_the_cache_and_not_the_rules(name):
    """Systems whose types look alike must not run each other's machine code, nor from the disk."""
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("abc", 1)]
    mine = podium.rate(rows, name).ratings["rating"].to_list()
    for other in FAMILY:
        if other != name:
            assert podium.rate(rows, other).ratings["rating"].to_list() != mine
