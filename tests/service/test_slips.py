"""Near misses of known names: the store and the service ask which player is meant."""

from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from races import calling, rows

from podium.errors import NearNameError
from podium.log.players import names_like
from podium.support.words import is_nearly
from podium.systems import find

KNOWN, SLIP = "Kowalski, Jan", "Kowalsky, Jan"
PLAYERS = [KNOWN, "Nowak, Ewa", "Ana / Ben", "Żółć", "player 7", "C_d%e\\f", "Jürgen Müller", "Soeren Aas"]
MAIN = "/api/v1/pools/main"
SOON = datetime.now(UTC) + timedelta(hours=1)


@pytest.fixture
def pool(store):
    store.create_pool("main", find("elo")())
    store.submit("main", rows(1, PLAYERS))
    return store


SLIPS = dict.fromkeys((SLIP, "owalski, Jan", "Kowalski, Jna", "KKowalski, Jan", "kowalski, jan", "Kowalsk, Jan"), KNOWN)
PAIRS = {"Ben & Ana": "Ana / Ben", "Ana and Ben": "Ana / Ben"}
LETTERS = {"Żołć": "Żółć", "C_d%e\\g": "C_d%e\\f", "Juergen Mueller": "Jürgen Müller", "Søren Ås": "Soeren Aas"}
OTHERS = dict.fromkeys(("d_C%e\\f", "player 8", "Cab", "Kowalewski, Jan", "%", "Ana / Bob"))


@pytest.mark.parametrize(("name", "known"), [*(SLIPS | PAIRS | LETTERS | OTHERS).items()])
def test_the_store_finds_similar_known_names(pool, name, known):
    with pool.reading("main") as reader:
        assert [each for each in names_like(reader, name) if is_nearly(name, each)] == ([known] if known else [])


def starters(found):
    return {each["player"] for each in found.starters}


def test_the_store_rejects_a_typo_and_accepts_a_new_player(pool):
    assert pool.predict("main", [KNOWN, "Stranger"]).newcomers == ("Stranger",)
    for field in ([SLIP, "Nowak, Ewa"], [{"player": SLIP}, "Nowak, Ewa"]):
        with pytest.raises(NearNameError, match="'Kowalsky, Jan' has not played, but 'Kowalski, Jan' has"):
            pool.predict("main", field)
        with pytest.raises(NearNameError):
            pool.stakes("main", field)
    with pytest.raises(NearNameError):
        pool.predict("main", sides=[[SLIP, "x"], ["Nowak, Ewa"]])
    with pytest.raises(NearNameError):
        pool.stakes("main", [KNOWN, "Nowak, Ewa"], SLIP)
    new = {"player": SLIP, "new": True}
    assert pool.predict("main", [new, KNOWN]).newcomers == (SLIP,)
    assert SLIP in starters(pool.stakes("main", [KNOWN, "Nowak, Ewa"], new))
    pool.plan_fixture("main", "next", starts_at=SOON, entrants=[SLIP, KNOWN])
    assert SLIP in starters(pool.stakes("main", fixture="next"))
    assert pool.predict("main", [SLIP, KNOWN]).newcomers == (SLIP,)  # now the name belongs to a player


def test_former_names_are_accepted(pool):
    pool.rename("main", KNOWN, "J. K.")
    assert pool.predict("main", [KNOWN, "Nowak, Ewa"])


def test_the_api_rejects_a_typo_and_accepts_a_new_player(pool):
    with calling(pool) as client:
        refused = client.post(f"{MAIN}/predict", json={"entrants": [SLIP, "Nowak, Ewa"]})
        assert refused.status_code == 422
        assert refused.json()["detail"].startswith(f"'{SLIP}' has not played, but '{KNOWN}' has. Write that name, or ")
        new = {"entrants": [{"player": SLIP, "new": True}, "Nowak, Ewa"]}
        assert client.post(f"{MAIN}/predict", json=new).json()["newcomers"] == [SLIP]
        for params in ({"entrants": [SLIP, KNOWN]}, {"entrants": [KNOWN, "Nowak, Ewa"], "player": SLIP}):
            assert client.get(f"{MAIN}/stakes", params=params).status_code == 422
            found = client.get(f"{MAIN}/stakes", params=params | {"new": SLIP})
            assert SLIP in {each["player"] for each in found.json()["entrants"]}
        pool.plan_fixture("main", "next", starts_at=SOON, entrants=[KNOWN, "Nowak, Ewa"])
        assert client.get(f"{MAIN}/fixtures/next/stakes", params={"player": SLIP}).status_code == 422
        found = client.get(f"{MAIN}/fixtures/next/stakes", params={"player": SLIP, "new": SLIP})
        assert SLIP in {each["player"] for each in found.json()["entrants"]}


def test_pages_suggest_the_known_name(pool):
    pool.plan_fixture("main", "next", starts_at=SOON, entrants=[KNOWN, "Nowak, Ewa"])
    with calling(pool) as client:
        page = client.get("/main/matches/next", params={"player": SLIP})
        assert (page.status_code, "has not played, but" in page.text) == (422, True)
        assert 'href="/main/matches/next?player=Kowalski%2C%20Jan"' in page.text
        new = client.get("/main/matches/next", params={"player": SLIP, "new": "yes"})
        assert (new.status_code, f"<bdi>{SLIP}</bdi>" in new.text) == (200, True)
        field = unescape(client.get("/main/predict", params={"entrants": [SLIP, "Nowak, Ewa"]}).text)
        assert "Not known in" in field
        assert 'href="/main/predict?entrants=Kowalski%2C+Jan&entrants=Nowak%2C+Ewa"' in field
        assert "Not known in" not in client.get("/main/predict?entrants=Kowalski%2C+Jan&entrants=Nowak%2C+Ewa").text
