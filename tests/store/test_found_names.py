"""Player search by present, former, merged, removed and similar names, in the pools that a user may see."""

import pytest
import sqlalchemy as sa
from races import rows

from podium.log.schema import player
from podium.store import Store
from podium.systems import find

BOLD = "\N{MATHEMATICAL BOLD CAPITAL A}da"
NAMES = ["Zoë Ångström", "ZOE", "Łukasz", BOLD, "Ada Zorn", "عمر", "雪", "100%", "under_score", "back\\slash", "ﬁsh"]


@pytest.fixture
def known(store):
    for pool in ("main", "other"):
        store.create_pool(pool, find("elo")())
    for number in range(3):
        store.submit("main", rows(number, NAMES))
        store.submit("other", rows(number, ["Zoe", "Quentin"]))
    return store


def found(store, text, *pools, **more):
    return [each.player for each in store.search(text, pools or ("main",), **more)]


BEGINNINGS = [
    ("zoe", ["ZOE", "Zoë Ångström"]),  # an exact match comes first
    ("ZOË A", ["Zoë Ångström"]),
    ("angstrom", ["Zoë Ångström"]),  # matches a later word if no name starts so
    ("ada", [BOLD, "Ada Zorn"]),
    ("lukasz", ["Łukasz"]),
    ("عم", ["عمر"]),
    ("雪", ["雪"]),
    ("fis", ["ﬁsh"]),
    ("100%", ["100%"]),
    ("under_", ["under_score"]),
    ("back\\", ["back\\slash"]),
    ("  zoë   ångström ", ["Zoë Ångström"]),
]
NOBODY = ("", "  ", "%", "_", "% %", "\\", "zoex%", "\U0010ffff", "x" * 300)


def test_a_name_is_found_by_its_beginning(known):
    for text, names in BEGINNINGS:
        assert found(known, text) == names
        assert not any(each.is_similar or each.former_name for each in known.search(text, ["main"]))
    for text in NOBODY:
        assert not [each for each in known.search(text, ["main"]) if not each.is_similar], text


def test_a_name_is_found_by_any_of_its_words(known):
    joined = [f"lando{joint}norris" for joint in " -_.|[]/"]
    known.submit("main", rows(7, [*joined, "landonorris", "Norrison", "[FIW]50%"]))
    assert found(known, "norris") == ["Norrison", *sorted(joined, key=joined.index)]
    assert found(known, "NORRIS", most=1) == ["Norrison"]  # a name with this beginning
    assert found(known, "50%") == found(known, "fiw") == ["[FIW]50%"]
    known.rename("main", "lando-norris", "champion")
    assert "champion" in found(known, "norris")
    assert found(known, "norriss")[0] == "lando norris"  # or with a similar word


def test_search_results_have_rating_and_rank(store):
    store.create_pool("main", find("folyami")())
    for number in range(6):
        store.submit("main", rows(number, "abcd"))
    store.submit("main", rows(7, ["e", "f"]))
    established = [row for row in store.leaderboard("main").players if row.player in "abcd"]
    for rank, row in enumerate(established, start=1):
        (hit,) = store.search(row.player)
        assert (hit.rank, hit.rating, hit.pool) == (rank, row.rating, "main")
    assert [each.rank for each in store.search("e")] == [None]
    store.void("main", "e7")
    (hit,) = store.search("e")
    assert (hit.player, hit.rating, hit.rank) == ("e", None, None)


def test_similar_names_are_found_only_without_a_match(known):
    (hit,) = known.search("lucasz", ["main"])
    assert (hit.player, hit.is_similar) == ("Łukasz", True)
    assert found(known, "angstrum") == ["Zoë Ångström"]
    assert found(known, "quentyn", "main", "other") == ["Quentin"]
    assert found(known, "nobody at all") == []


def test_a_search_covers_only_permitted_pools(known):
    assert found(known, "zoe", "other") == ["Zoe"]
    assert [(each.pool, each.player) for each in known.search("quentin", ["main"])] == []
    assert {each.pool for each in known.search("zoe")} == {"main", "other"}
    assert known.search("zoe", []) == ()
    assert known.search("zoe", ["nowhere"]) == ()
    assert len(known.search("zoe", most=2)) == 2


def test_former_names_and_merged_accounts_are_found(known):
    known.rename("main", "ZOE", "Renée")
    (hit,) = (each for each in known.search("zoe", ["main"]) if each.player == "Renée")
    assert hit.former_name == "ZOE"
    assert [(each.player, each.former_name) for each in known.search("rene", ["main"])] == [("Renée", None)]
    known.submit("main", rows(5, ["Second account", "雪"]))
    known.merge("main", "Second account", "Renée")
    (hit,) = known.search("second", ["main"])
    assert (hit.player, hit.former_name) == ("Renée", "Second account")
    assert found(known, "renee") == ["Renée"]
    known.unmerge("main", "Second account")
    assert [(each.player, each.former_name) for each in known.search("second", ["main"])] == [("Second account", None)]
    known.anonymize("main", "Renée")
    assert found(known, "rene") == []
    assert found(known, "zoe") == ["Zoë Ångström"]


def test_an_imported_pool_has_the_same_search_results(known, tmp_path):
    """The file does not contain folded names. They follow from its names."""
    known.rename("main", "ZOE", "Renée")
    other = Store(str(tmp_path / "other.db"))
    other.import_pool(known.export_pool("main"))
    for text in ("zoe", "rene", "angs"):
        assert other.search(text) == known.search(text, ["main"])
    other.close()


def test_a_pseudonym_that_is_taken_gets_a_mark(store):
    store.create_pool("main", find("elo")())
    store.submit("main", rows(9, ["a", "b", "player 1"]))
    store.anonymize("main", "a")
    with store.engine.connect() as connection:
        names = set(connection.execute(sa.select(player.c.name)).scalars())
    assert names == {"player 1", "player 1'", "b"}
