"""Details of players: beside the log, by a salted hash in it; IDs by which results name players."""

import pytest
from commands import streams
from races import calling, rows

import podium
from podium.log.schema import log
from podium.store import Store
from podium.systems import find
from podium.views import details as details_module

ANA = {"player": "ana", "country": "DE", "club": "Kart Club", "division": "A", "link": "https://example.org/ana"}
IDS = {"player": "ana", "discord": "80351110224678912", "steam": "76561", "fide": "4100018"}


@pytest.fixture
def pool(store):
    store.create_pool("main", find("elo")())
    store.submit("main", rows(1, ("ana", "ben")))
    assert store.set_details("main", [ANA | IDS, {"player": "new", "club": "Other"}]) == 2
    return store


def details(store, player="ana"):
    return {row.player: row for row in store.player_details("main")}.get(player)


def bodies(store):
    with store.reading("main") as known:
        return b"".join(row.body for row in known.execute(log.select()).all())


def test_they_are_stored_next_to_the_log_and_no_rating_changes(pool):
    before = pool.leaderboard("main")
    assert details(pool).club == "Kart Club"
    assert [each.discord for each in pool.player_ids("main")] == [IDS["discord"]]
    assert pool.set_details("main", [{"player": "ana", "club": "New Club", "division": ""}]) == 1
    assert pool.set_details("main", [{"player": "ana", "club": "New Club", "division": None}]) == 0
    assert (details(pool).club, details(pool).division, details(pool).country) == ("New Club", None, "DE")
    assert pool.leaderboard("main") == before
    assert b"Club" not in bodies(pool)
    assert IDS["discord"].encode() not in bodies(pool)
    assert [entry.player for entry in pool.log("main") if entry.kind == "detail"] == ["ana", "new", "ana"]
    assert pool.verify() == []


def test_results_name_a_player_by_an_id(pool):
    pool.rename("main", "ana", "anna")
    (receipt,) = pool.submit("main", rows(2, ("discord:80351110224678912", "steam:1")))
    assert [change.player for change in receipt.changes] == ["anna", "steam:1"]
    pool.set_details("main", [{"player": "ben", "steam": "9"}, {"player": "anna", "discord": "7"}])
    (receipt,) = pool.submit("main", rows(3, ("steam:9", "discord:7")))
    assert [change.player for change in receipt.changes] == ["ben", "anna"]
    with pytest.raises(podium.PodiumError, match="already another player"):
        pool.set_details("main", [{"player": "new", "steam": "9"}])
    for detail in ({"link": "example.org"}, {"shoe": "42"}, {"club": "a\nb"}):
        with pytest.raises(podium.ParameterError, match=next(iter(detail))):
            pool.set_details("main", [{"player": "new"} | detail])
    assert pool.verify() == []


def test_anonymizing_removes_them_and_the_player_is_still_recognised(pool, tmp_path):
    pool.set_details("main", [{"player": "ana", "club": "New Club"}, {"player": "ben", "club": "Friends of Ana"}])
    name = pool.anonymize("main", "ana")
    assert details(pool, name) is None
    assert details(pool, "ben") is None  # it mentioned the name
    assert pool.player_ids("main") == ()
    assert pool.verify() == []
    lines = "".join(pool.export_pool("main"))
    assert "Club" not in lines
    assert IDS["discord"] not in lines
    assert "example.org" not in lines
    (receipt,) = pool.submit("main", rows(2, ("discord:80351110224678912", "ben")))
    assert receipt.changes[0].player == name


def test_merges_exports_and_other_processes_keep_them(pool, new_url):
    pool.submit("main", rows(2, ("cleo", "ben")))
    pool.merge("main", "ana", "cleo")
    assert details(pool, "cleo").club == "Kart Club"
    assert pool.keep_snapshot("main", entries=0)
    other, again = Store(new_url("sqlite")), Store(pool.engine.url.render_as_string(hide_password=False))
    assert other.import_pool([*pool.export_pool("main")]).moved == 0
    for one in (other, again):
        assert one.player_details("main") == pool.player_details("main")
        assert one.player_ids("main") == pool.player_ids("main")
        assert one.verify() == []
        one.close()
    pool.unmerge("main", "ana")
    assert details(pool, "cleo") is None


def test_readers_see_no_ids(pool):
    with calling(pool, "read") as client:
        assert "8035" not in client.get("/api/v1/pools/main/search?q=discord").text
        assert "8035" not in client.get("/api/v1/pools/main/players/ana/card").text
        assert client.get("/api/v1/pools/main/details").json()[0]["club"] == "Kart Club"
        assert client.get("/api/v1/pools/main/ids").status_code == 403
        assert client.put("/api/v1/pools/main/details", json={"players": [{"player": "ben"}]}).status_code == 403
    with calling(pool) as client:
        assert client.get("/api/v1/pools/main/ids").json()[0]["steam"] == "76561"
        assert client.put("/api/v1/pools/main/details", json={"players": [{"player": "ben", "club": "x"}]}).json() == 1


def test_boards_list_the_players_with_a_detail(pool):
    pool.set_details("main", [{"player": "ben", "club": "Kart Club", "country": "FR"}])
    pool.submit("main", rows(2, ("cleo", "ben", "dee")))
    pool.set_details("main", [{"player": "cleo", "club": "Other", "country": "DE"}])
    with calling(pool, "read") as client:
        path = "/api/v1/pools/main/leaderboard"
        board = client.get(path, params={"club": "Kart Club"}).json()
        assert [(row["rank"], row["player"]) for row in board["players"]] == [(1, "ana"), (2, "ben")]
        assert (board["listed"], board["rated"]) == (2, 4)
        both = client.get(path, params={"club": "Kart Club", "country": "FR"}).json()["players"]
        assert [(row["rank"], row["player"]) for row in both] == [(1, "ben")]
        assert client.get(path, params={"division": "Z"}).json()["players"] == []
        assert client.get(path, params={"club": ""}).json()["listed"] == 4
        assert client.get(path, params={"club": "Other", "at": "2030-01-01"}).status_code == 422
        page = client.get("/main?club=Kart+Club&all=1").text
        assert "<bdi>club Kart Club</bdi>" in page
        assert '<option dir="auto" selected>Kart Club</option>' in page
        assert 'name="division"' in page
    pool.merge("main", "ana", "dee")
    name = pool.anonymize("main", "ben")
    assert pool.detail_choices("main") == {"country": ("DE",), "club": ("Kart Club", "Other"), "division": ("A",)}
    with calling(pool, "read") as client:
        listed = client.get(path, params={"club": "Kart Club"}).json()["players"]
        assert [row["player"] for row in listed] == ["dee"]
        assert "details" not in client.get(f"/api/v1/pools/main/players/{name}").json()


def test_a_players_page_and_card_show_them_without_ids(pool):
    pool.set_details("main", [{"player": "ana", "club": "<b>Kart & Co</b>"}, {"player": "ben", "steam": "1"}])
    with calling(pool, "read") as client:
        shown = ANA | {"club": "<b>Kart & Co</b>"}
        assert client.get("/api/v1/pools/main/players/ana").json()["details"] == shown
        assert client.get("/api/v1/pools/main/players/ana/card").json()["details"] == shown
        assert "details" not in client.get("/api/v1/pools/main/players/ben/card").json()
        page = client.get("/main/players/ana").text
        assert "<bdi>&lt;b&gt;Kart &amp; Co&lt;/b&gt;</bdi>" in page
        assert '<a href="https://example.org/ana" rel="nofollow noopener external">' in page
        assert IDS["discord"] not in page


BY_ID = "discord:80351110224678912"


def test_readers_find_nobody_by_an_id(pool):
    pool.submit("main", rows(2, ("cleo", "discord:5")))  # a name like any other
    api, pages = "/api/v1/pools/main", "/main"
    paths = [
        *(f"{api}/players/{BY_ID}{rest}" for rest in ("", "/card", "/page", "/curve", "/changes", "/rivals", "/ranks")),
        f"{api}/meetings?player={BY_ID}&other=ben",
        *(f"{pages}/players/{BY_ID}{rest}" for rest in ("", "/badge.svg", "/feed.xml", "/news", "/rivals")),
        f"{pages}/events/e1/{BY_ID}",
    ]
    with calling(pool, "read") as client:
        assert [path for path in paths if client.get(path).status_code != 404] == []
        assert client.post(f"{pages}/players/{BY_ID}/me", data={"me": "yes"}).status_code == 404
        client.cookies.set("me", BY_ID)
        assert 'id="me"' not in client.get(pages).text
        fields = (["ana", "cleo"], [BY_ID, "cleo"], ["discord:6", "cleo"])
        known, hidden, newcomer = (client.post(f"{api}/predict", json={"entrants": field}).text for field in fields)
        assert hidden.replace(BY_ID, "discord:6") == newcomer
        assert hidden.replace(BY_ID, "ana") != known
        assert client.get(f"{api}/stakes", params={"entrants": [BY_ID, "ana"]}).status_code == 200  # two players
        assert client.get(f"{api}/players/discord:5").json()["player"] == "discord:5"
    with calling(pool) as client:
        assert client.get(f"{api}/players/{BY_ID}").json()["player"] == "ana"
        assert client.get(f"{api}/players/{BY_ID}/rivals").status_code == 200
    with calling(pool, "read") as client:
        assert client.get(f"{api}/players/{BY_ID}/rivals").status_code == 404
    assert pool.submit("main", rows(3, (BY_ID, "ben")))[0].changes[0].player == "ana"


def test_streams_exports_and_lists_name_players_without_ids(pool):
    pool.describe_pool("main", points_scheme="f1")
    pool.submit("main", rows(2, (BY_ID, "cleo")))
    with calling(pool, "read") as client:
        paths = [
            path.format(pool="main", by="club")
            for path, methods in client.app.openapi()["paths"].items()
            if "get" in methods and "{pool}" in path and "{" not in path.replace("{pool}", "").replace("{by}", "")
        ]
        paths += ["/main", "/main/events", "/main/events/e2", "/main/feed.xml", "/main/standings"]
        sent = {path: client.get(path, params={"seconds": 0.1} if "stream" in path else {}) for path in paths}
        sent["again"] = client.get("/api/v1/pools/main/stream?seconds=0.1", headers={"Last-Event-ID": "0"})
    assert [path for path, answer in sent.items() if IDS["discord"] in answer.text or IDS["steam"] in answer.text] == []
    assert "ana" in sent["again"].text
    assert sum(answer.status_code == 200 for answer in sent.values()) > 20


def test_a_pool_may_show_ids_to_readers(pool):
    with pytest.raises(podium.ParameterError, match="ids=some"):
        pool.describe_pool("main", display="ids=some")
    pool.describe_pool("main", display="factor=2 ids=public tiers=A:0")
    with calling(pool, "read") as client:
        path = "/api/v1/pools/main"
        assert client.get(f"{path}/players/{BY_ID}").json()["details"]["ids"]["steam"] == "76561"
        assert client.get(f"{path}/details").json()[0]["ids"]["fide"] == "4100018"
        assert "Discord 80351110224678912" in client.get("/main/players/ana").text
    pool.describe_pool("main", display="factor=2")
    with calling(pool, "read") as client:
        assert "ids" not in client.get(f"{path}/players/ana").json()["details"]
        assert client.get(f"{path}/players/{BY_ID}").status_code == 404


def test_details_are_read_again_only_after_they_change(pool, monkeypatch):
    read = details_module.titles_in
    calls = []

    def count(*sent):
        calls.append(sent)
        return read(*sent)

    monkeypatch.setattr(details_module, "titles_in", count)
    for event in range(2, 5):
        pool.submit("main", rows(event, ("ana", "ben")))
        assert pool.detail_choices("main")["club"] == ("Kart Club", "Other")
    assert len(calls) == 1
    pool.anonymize("main", "ana")
    assert pool.detail_choices("main")["club"] == ("Other",)
    pool.set_details("main", [{"player": "ben", "club": f"club {k}"} for k in range(1)])
    assert pool.detail_choices("main")["club"] == ("Other", "club 0")
    monkeypatch.setattr(details_module, "MAX_CHOICES", 1)
    pool.set_details("main", [{"player": "new", "club": "club 0"}, {"player": "cleo", "club": "rare"}])
    with calling(pool, "read") as client:
        page = client.get("/main?club=rare").text
        assert '<option dir="auto" selected>rare</option>' in page
        assert '<option dir="auto">club 0</option>' in page


SHEET = """event_id,player,position,Verein,Land,division,link,steam_id
e9,ana,1,Wolves,,A,https://example.org/new,76561
e9,ben,2,Bears,FR,B,not a page,76561
e9,new,3,,,,,
"""


def ingest(pool, file, *more):
    url = pool.engine.url.render_as_string(hide_password=False)
    return streams("ingest", str(file), "--pool", "main", "--db", url, *more)[0]


def test_columns_of_a_sheet_become_details(pool, tmp_path):
    file = tmp_path / "sheet.csv"
    file.write_text(SHEET)
    plain = tmp_path / "plain.csv"
    plain.write_text("\n".join(",".join(line.split(",")[:3]) for line in SHEET.splitlines()) + "\n")
    read = podium.read_results(file, lenient=True)
    assert read.frame.drop("team").equals(podium.read_results(plain).frame)
    assert "details of players: Verein, Land, division, link, steam_id" in read.notes[0]
    before = pool.player_details("main")
    dry = ingest(pool, file, "--started-at", "2026-01-01", "--dry-run")
    assert "details of 2 players would change" in dry
    assert pool.player_details("main") == before
    done = ingest(pool, file, "--started-at", "2026-01-01")
    assert "ben: link: 'not a page' is not the address of a page" in done
    assert "ben: 'steam:76561' is already another player" in done
    assert (details(pool).club, details(pool).country, details(pool).link) == (
        "Wolves",
        "DE",
        "https://example.org/new",
    )
    assert (details(pool, "ben").club, details(pool, "ben").country, details(pool, "ben").link) == ("Bears", "FR", None)
    assert details(pool, "new").club == "Other"
    assert b"example.org" not in bodies(pool)
    name = pool.anonymize("main", "ana")
    ingest(pool, file, "--started-at", "2026-01-01")  # the old sheet again
    assert details(pool, name) is None
    assert "example.org" not in "".join(pool.export_pool("main"))
    assert pool.verify() == []


def test_results_do_not_replace_the_id_of_a_player(pool):
    assert pool.take_details("main", [{"player": "ana", "steam": "2", "club": "Bears"}]) == [
        "ana: has a different steam ID. An admin can change it."
    ]
    assert [each.steam for each in pool.player_ids("main") if each.player == "ana"] == [IDS["steam"]]
    assert details(pool).club == "Bears"


def test_clubs_that_are_teams_stay_teams(tmp_path):
    file = tmp_path / "teams.csv"
    file.write_text("event_id,player,club,team_score\nm,ana,Wolves,2\nm,ben,Wolves,2\nm,cleo,Bears,1\nm,dee,Bears,1\n")
    read = podium.read_results(file, lenient=True)
    assert read.frame["team"].to_list() == ["Wolves", "Wolves", "Bears", "Bears"]
    assert [row["club"] for row in read.details] == ["Wolves", "Wolves", "Bears", "Bears"]
    file.write_text("event_id,team,player,position,link\nm,Club,ana,1,x\nm,Club,ben,2,\n")
    assert podium.read_results(file, lenient=True).details == ({"player": "ana", "link": "x"},)


def test_events_of_the_api_have_details(pool):
    entries = [
        {"player": "ana", "position": 1, "club": "Wolves", "country": "", "steam": "1"},
        {"player": "zoe", "position": 2, "club": "Bears"},
    ]
    event = {"event_id": "e9", "started_at": "2026-01-01T00:00:00Z", "entries": entries}
    path, fixed = "/api/v1/pools/main/events", "ana: has a different steam ID. An admin can change it."
    with calling(pool, "write") as client:
        (receipt,) = client.post(f"{path}?dry_run=true", json=event).json()
        assert receipt["warnings"] == ["details of 2 players would change", fixed]
        assert (details(pool).club, details(pool, "zoe")) == ("Kart Club", None)
        (receipt,) = client.post(path, json=event).json()
        assert receipt["warnings"] == [fixed]
        assert (details(pool).club, details(pool).country, details(pool, "zoe").club) == ("Wolves", "DE", "Bears")
        entries[0] |= {"club": "Bears", "link": "nowhere", "steam": None}
        (receipt,) = client.post(path, json=event).json()
        assert receipt["duplicate"]
        assert "nowhere" in receipt["warnings"][0]
        assert details(pool).club == "Bears"
    with calling(pool) as client:
        for dry_run, club in ((True, "Bears"), (False, "Owls")):
            sent = event | {"entries": [entries[0] | {"club": "Owls"}, entries[1]]}
            receipt = client.put(f"{path}/e9", json=sent, params={"dry_run": dry_run}).json()
            assert "nowhere" in receipt["warnings"][-1]
            assert details(pool).club == club
    assert pool.verify() == []
