"""Displayed probabilities add up and match the API; the rules are explained with real events."""

import json
import re
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from html_tree import tree
from starlette.testclient import TestClient

from podium.ledger.pair_predictions import ReliabilityBin
from podium.pages.reliability import findings, trust_of
from podium.service import create_app
from podium.service.web.ahead.races import break_even_words
from podium.service.web.chances import chance_words, odds_words
from podium.service.web.rendering import PoolHeader
from podium.service.web.rules.page import weights
from podium.store.keys import create_key
from podium.store.pool_facts import WeightPoint
from podium.support.words import shown
from podium.systems import find

API = "/api/v1/pools"


def read(site, path, expected=200):
    status, _, text = site.get(path)
    assert status == expected, text[-2000:]
    return tree(text)


def section(root, heading):
    return next(each for each in root.every("section") if each.attributes.get("aria-labelledby") == heading)


def test_weights_of_later_events_alone_have_a_caption():
    facts: Any = SimpleNamespace(weights=(WeightPoint(15, 6.0, 3), WeightPoint(20, 5.0, 3)))
    picture = weights(PoolHeader("karts", "Karts", "Elo", 1, "driver"), facts)
    assert "6.0 points in event 15, 5.0 in event 20." in picture.caption
    assert len([*tree(str(picture.drawing)).every("circle")]) == 2


def test_a_comparison_matches_the_api(site):
    _, _, text = site.get(f"{API}/bikes/compare?player=Dragana&other=Chidi", accept="application/json")
    found = json.loads(text)
    root = read(site, "/bikes/compare?player=Dragana&other=Chidi")
    share = round(100 * found["players"][0]["expected"])
    odds = section(root, "odds")
    assert odds.first("h2").text == f"Dragana would finish ahead of Chidi in {share} of 100 duels."
    assert [each.text for each in odds.first("div", "row").nodes] == [f"Dragana {share}%", f"Chidi {100 - share}%"]
    bars = [float(each.attributes["width"].rstrip("%")) for each in odds.every("rect")]
    assert bars[0] == pytest.approx(share, abs=0.5)
    ratings = [each.number for each in section(root, "side").first("tbody").first("tr").nodes[1:]]
    assert ratings == [shown(each["rating"], 0) for each in found["players"]]
    rows = list(section(root, "met").first("tbody").every("tr"))
    for row, met in zip(rows, found["meetings"], strict=False):
        own, theirs = row.nodes[1], row.nodes[2]
        assert own.first("a").number == shown(met["shown"], 1)
        assert theirs.first("a").number == shown(met["other_shown"], 1)
        ahead = [own.first("b") is not None, theirs.first("b") is not None]
        assert ahead == [met["rank"] < met["other_rank"], met["rank"] > met["other_rank"]]
    assert site.get(rows[0].nodes[1].first("a").attributes["href"])[0] == 200


def test_a_comparison_names_the_favourite_first(site):
    one = section(read(site, "/bikes/compare?player=Chidi&other=Dragana"), "odds")
    assert one.first("h2").text.startswith("Dragana would finish ahead of Chidi in ")
    assert one.first("div", "row").nodes[0].text.startswith("Chidi ")


def test_a_comparison_suggests_links_for_unknown_names(site):
    root = read(site, "/bikes/compare?player=Draganna&other=Chidi", 404)
    link = next(each for each in root.every("a") if "compare?player=Dragana&other=Chidi" in each.attributes["href"])
    assert site.get(link.attributes["href"])[0] == 200
    assert (
        "Dragana and Dragana are the same rider" in read(site, "/bikes/compare?player=Dragana&other=Dragana", 422).text
    )
    assert "Nobody can be compared yet" in read(site, "/empty/compare").text
    default = read(site, "/bikes/compare")
    assert default.first("h1").text.endswith("?")


@pytest.mark.parametrize("path", ["/bikes/predict", "/names/predict", "/club/predict"])
def test_place_probabilities_add_up_to_100_in_rows_and_columns(site, path):
    root = read(site, path)
    table = root.first("table", "heat")
    rows = [[cell.number or Decimal(0) for cell in row.nodes[1:]] for row in table.first("tbody").every("tr")]
    assert [sum(row) for row in rows] == [100] * len(rows)
    assert [sum(column) for column in zip(*rows, strict=True)] == [100] * len(rows)
    wins = [row.first("b").text for row in section(root, "win").first("tbody").every("tr")]
    assert [each.removesuffix("%") for each in wins] == [str(row[0]) if row[0] else "<1" for row in rows]


def test_a_large_field_groups_places_and_keeps_every_row(site):
    root = read(site, "/grid/predict")
    table = root.first("table", "heat")
    heads = [each.text.removeprefix("place") for each in table.first("thead").every("th")]
    assert heads[9:12] == ["10", "11–15", "16–20"]  # noqa: RUF001  (ranges)
    assert heads[-1] == "21–22"  # noqa: RUF001
    rows = [[cell.number or Decimal(0) for cell in row.nodes[1:]] for row in table.first("tbody").every("tr")]
    assert len(rows) == 22
    assert {sum(row) for row in rows} == {100}
    sums = [sum(column) for column in zip(*rows, strict=True)]
    assert sums == [100] * 10 + [500, 500, 200]
    assert "desk" in next(each for each in table.above() if each.tag == "section").classes


def test_probabilities_match_the_api_except_for_rounding(site):
    names = ["Dragana", "Zoë", "Chidi", "Otto"]
    key = {"Authorization": f"Bearer {create_key(site.store.engine, 'chances', 'read')}"}
    with TestClient(create_app(site.store)) as client:
        answer = client.post(f"{API}/bikes/predict", json={"entrants": names}, headers=key)
    exact = {each["player"]: each["win"] for each in answer.json()["entrants"]}
    root = read(site, "/bikes/predict?" + "&".join(f"entrants={quote(each)}" for each in names))
    rows = list(section(root, "win").first("tbody").every("tr"))
    assert [row.nodes[0].text for row in rows] == list(exact)
    for row in rows:
        win = Decimal(re.sub(r"[^\d]", "", row.first("b").text))
        assert abs(float(win) - 100 * exact[row.nodes[0].text]) < 1.0


def test_unknown_entrants_are_named_and_one_entrant_is_rejected(site):
    root = read(
        site, f"/bikes/predict?entrants=Dragana&entrants=Zoe&entrants={quote('<i>')}&entrants=&entrants=Dragana"
    )
    note = root.first("main").first("p", "note")
    assert "Zoe (did you mean Zoë?)" in note.text
    assert "<i>" in note.text
    assert "a forecast needs at least two" in read(site, "/bikes/predict?entrants=Dragana", 422).text.lower()
    many = "&".join(f"entrants=p{k}" for k in range(70))
    root = read(site, f"/bikes/predict?{many}")
    assert "Only the first 64 entrants are included; the other 6 are left out." in root.text
    assert root.first("h1").text == "Who wins? Nobody stands out."
    assert "Nobody has played" in read(site, "/empty/predict").text
    sides = f"side={quote('Dragana,Chidi')}&side={quote('Otto, Zoe')}"
    root = read(site, f"/bikes/predict?{sides}")
    assert {row.nodes[0].text for row in section(root, "win").first("tbody").every("tr")} == {
        "Dragana, Chidi",
        "Otto, Zoe",
    }
    assert "Zoe (did you mean Zoë?)" in root.first("main").first("p", "note").text
    assert "more than 64 players" in read(site, f"/bikes/predict?side={quote(','.join(map(str, range(70))))}", 422).text


def test_small_and_large_probabilities_have_words():
    assert [odds_words(each) for each in (0.2, 0.158, 0.625, 0.97, 0.999)] == [
        "1 in 5", "1 in 6", "6 in 10", "97 in 100", "more than 99 in 100",
    ]  # fmt: skip
    assert [chance_words(Decimal(number), chance) for number, chance in ((0, 0.001), (100, 0.999), (63, 0.63))] == [
        "<1%", ">99%", "63%",
    ]  # fmt: skip


def test_judging_predictions_needs_enough_duels():
    def reliability(expected, observed, duels):
        return ReliabilityBin(expected, observed, observed - 0.02, observed + 0.02, duels)

    assert trust_of([reliability(0.95, 0.86, 99)]).words == ""
    assert trust_of([reliability(0.95, 0.86, 852)]).words == "in this pool favourites win less than expected"
    assert trust_of([reliability(0.75, 0.81, 852)]).words == "in this pool favourites win more than expected"
    bins = [reliability(0.75, 0.70, 2000), reliability(0.92, 0.92, 500)]  # the strongest meet expectations
    assert findings(bins) == (
        "Of those given 92%, 92% won. All favourites, from 70% on, were expected to win 78% and won 74%: "
        "in this pool favourites win less than expected."
    )


@pytest.mark.parametrize("pool", ["bikes", "karts", "stunts", "dm", "club"])
def test_answers_about_the_rules_use_existing_events(site, pool):
    root = read(site, f"/{pool}/system")
    questions = {each.first("h3").text: each.first("p") for each in root.every("details")}
    assert len(questions) >= 9
    assert "open" in next(root.every("details")).attributes
    events = [
        each.attributes["href"]
        for answer in questions.values()
        for each in answer.every("a")
        if "/events/" in each.attributes["href"]
    ]
    assert events
    for address in set(events):
        assert site.get(address)[0] == 200
    system = site.store.pool(pool).system
    settings = {row.first("code").text for row in section(root, "settings").first("tbody").every("tr")}
    assert settings == {each.name for each in fields(system)}
    assert system.formulas[0] in root.first("pre").text or system.formulas[0][:20] in root.first("pre").text
    assert ("What is the ± behind a rating?" in questions) == ("deviation" in system.state_type._fields)
    assert system.winning_margin in questions["Does it matter by how much I win?"].text


def test_the_answer_about_winning_and_losing_is_a_real_change(site):
    root = read(site, "/bikes/system")
    answer = next(root.every("details")).first("p")
    why = site.store.explain("bikes", "bikes-058", "Dragana")
    assert answer.first("a").attributes["href"] == "/bikes/events/bikes-058/Dragana"
    assert why.verdict in answer.text
    assert why.cause in answer.text
    quits = next(each for each in root.every("details") if each.first("h3").text == "What if I disconnect or quit?")
    instead = site.store.what_if("bikes", "bikes-058", "Dragana").alternatives[0]
    assert f"would have lost {abs(instead.shown)}" in quits.text


def test_draws_team_mates_and_upcoming_duels_are_described(sqlite_store):
    for name, system, places in (("even", "elo", (1, 1)), ("apart", "elo", (1, 2)), ("alone", "stk", (1, 2))):
        sqlite_store.create_pool(name, find(system)(), public=True)
        sent = [
            {
                "event_id": "e",
                "started_at": "2025-01-01",
                "player": player,
                "team": f"team {player}",
                "time_s": 60.0 + k,
            }
            for player, k in zip(("Ana", "Ben"), places, strict=True)
        ]
        sqlite_store.submit(name, sent)
    sqlite_store.create_pool("undated", find("glicko2")(), public=True, order="sequence")
    sqlite_store.submit("undated", [{"event_id": "e", "player": player, "position": 1} for player in ("Ana", "Ben")])
    sqlite_store.create_pool("surely", find("trueskill")(conservative=3.0), public=True)
    sqlite_store.submit("surely", sent)
    sqlite_store.plan_fixture("apart", "duel", starts_at=datetime.now(UTC), entrants=["Ana", "Ben"])
    with TestClient(create_app(sqlite_store), headers={"Accept": "text/html"}) as client:
        compared = client.get("/even/compare?player=Ana&other=Ben").text
        draw = sqlite_store.predict("even", ["Ana", "Ben"]).draw
        assert sqlite_store.compare("even", "Ana", "Ben").draw == draw
        share, drawn = round(50.0 * (1.0 - draw)), 100 - 2 * round(50.0 * (1.0 - draw))
        assert f"each would finish ahead in {share} of 100 duels" in compared
        assert f"Ana {share}%, draw {drawn}%, Ben {share}%" in compared
        predicted = tree(client.get("/even/predict?entrants=Ana&entrants=Ben").text)
        rows = section(predicted, "win").first("tbody").every("tr")
        assert [row.first("b").text for row in rows] == [f"{share}%", f"{share}%", f"{drawn}%"]
        assert predicted.first("table", "heat") is None
        assert 'content="Ana and Ben: neither is the favourite."' in compared
        assert "Both histories" not in compared  # one event each is not enough for a line
        assert "among those with an established rating" not in compared
        for path, words in (
            ("/even/system", "Team mates share the result of their team and are not compared with each other"),
            ("/alone/system", "In this system everybody competes individually, even in a team."),
            ("/undated/system", "Here it does not, because events have no dates."),
            ("/apart/players/Ben", "Most likely "),
            (
                "/surely/players/Ben",
                "Ranks follow the rating minus 3 times the deviation, and so do the gaps between players.",
            ),
        ):
            assert words in " ".join(tree(client.get(path).text).text.split())
    assert break_even_words(None, 2) == "none"


def test_the_rules_page_shows_the_pools_settings_and_events(sqlite_store):
    sqlite_store.create_pool(
        "set", find("trials")(tau=0.5, quit_policy="remaining"), public=True, contact="a@club.example"
    )
    with TestClient(create_app(sqlite_store), headers={"Accept": "text/html"}) as client:
        before = tree(client.get("/set/system").text)
        assert "Your rating predicted more" in before.text
        rows = {row.first("code").text: row for row in section(before, "settings").first("tbody").every("tr")}
        assert "set for this pool" in rows["tau"].text
        assert rows["tau"].nodes[1].text == "0.5"
        assert "set for this pool" not in rows["initial"].text
        assert rows["idle_growth"].nodes[1].text == "off"
        assert "mailto:a@club.example" in {each.attributes["href"] for each in before.every("a")}
        sqlite_store.submit("set", [{"event_id": e, "started_at": f"2025-01-0{e[1]}", "player": p, "position": k}
                             for e in ("e1", "e2") for k, p in enumerate(("Ana", "Ben"), start=1)])  # fmt: skip
        sqlite_store.void("set", "e2")
        after = tree(client.get("/set/system").text)
        assert "/set/events/e1" in {each.attributes["href"] for each in after.every("a")}
        assert "changed no ratings" not in after.text  # the example is an event that counts
