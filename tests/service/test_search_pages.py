"""Player search pages: their results, and the players they must hide."""

from leagues import HOSTILE
from page_words import main_of, people, words
from races import rows

from podium.store.keys import create_key
from podium.support.words import part
from podium.systems import find


def test_a_search_shows_a_match_or_lists_matches_or_suggests_one(season, visitor):
    one = visitor.get("/bikes/find?q=dragan")
    assert (one.status_code, one.headers["location"]) == (303, "/bikes/players/Dragana")
    assert "1 rider for “ dragan ”" in words(main_of(visitor.get("/bikes/find?q=dragan&list=1")))
    several = words(main_of(visitor.get("/find?q=A")))
    assert "3 players for" in several
    assert "Ana Club 1" in several
    assert "Amélie Bikes 26 1296" in several
    none = words(main_of(visitor.get("/bikes/find", params={"q": "Draganna"}), 404))
    assert "No rider called “ Draganna ”" in none
    assert "Did you mean Dragana ?" in none
    assert "Type the start of a name, or of a word in it" in none
    markup = visitor.get("/find", params={"q": '"><script>alert(1)</script>'})
    assert markup.status_code == 404
    assert "<script>alert" not in markup.text
    assert "&#34;&gt;&lt;script&gt;alert(1)" in markup.text
    assert visitor.get("/find", params={"q": "x" * 5000}).status_code == 422
    for empty in ("", "?q=", "?q=%20", "?q=%E2%80%8F"):
        assert "Find a player" in words(main_of(visitor.get(f"/find{empty}"), 404 if empty.endswith("8F") else 200))
    for name in HOSTILE:
        answer = visitor.get("/names/find", params={"q": name})
        assert answer.headers["location"] == f"/names/players/{part(name)}", name


def test_twenty_found_players_may_not_be_all(sqlite_store):
    sqlite_store.create_pool("open", find("elo")(), public=True)
    sqlite_store.submit("open", rows(1, [f"Ana {number}" for number in range(20)]))
    with people(sqlite_store) as client:
        found = words(main_of(client.get("/open/find?q=ana&list=1")))
    assert "20 players or more for" in found
    assert "There may be more" in found


def test_players_of_private_pools_are_not_found(sqlite_store):
    for pool in ("open", "secret"):
        sqlite_store.create_pool(pool, find("elo")(), public=pool == "open")
        sqlite_store.submit(pool, rows(1, [f"Ana of {pool}", f"Ben of {pool}"]))
    key = create_key(sqlite_store.engine, "Rosa", "read")
    with people(sqlite_store) as client:
        texts_of_all = [
            client.get(each).text for each in ("/", "/find?q=ana", "/find?q=ana%20of%20secret", "/find?q=be&list=1")
        ]
        assert "secret" not in "".join(texts_of_all).replace("ana of secret", "")
        assert client.get("/secret").status_code == client.get("/nowhere").status_code == 401
        insider = {"Authorization": f"Bearer {key}"}
        assert "Ana of secret" in client.get("/", headers=insider).text
        assert "Ana of secret" in client.get("/find?q=ana", headers=insider).text
        assert "secret" not in client.get("/").text
