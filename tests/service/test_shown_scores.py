"""Displayed scores, their scale and tiers: on pages, in the API, and in messages about promotions."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from podium.errors import ParameterError
from podium.log.display import read_display
from podium.service import create_app
from podium.service.web.messages import news_after
from podium.store import Store
from podium.systems import find

START = datetime(2026, 1, 1, tzinfo=UTC)
SCALE = "factor=100 floor=0 tiers=Gold:2500,Bronze:0,Silver II:400"


def duel(number, *names):
    start = {"event_id": f"e{number}", "started_at": START + timedelta(days=number)}
    return [{**start, "player": name, "position": place} for place, name in enumerate(names, 1)]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store(str(tmp_path_factory.mktemp("scores") / "podium.db"))
    opened.create_pool("races", find("trueskill")(conservative=2.0), public=True, display=SCALE)
    opened.create_pool("chess", find("elo")(), public=True)
    for number in range(8):
        opened.submit("races", duel(number, "ana", "ben", "cleo"))
        opened.submit("chess", duel(number, "ana", "ben"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def visitor(store):
    with TestClient(create_app(store)) as client:
        yield client


def test_the_api_has_the_score_behind_each_rank(visitor):
    for query in ("", "?max_deviation=100", "?at=2027-01-01"):
        rows = visitor.get(f"/api/v1/pools/races/leaderboard{query}").json()["players"]
        assert [row["player"] for row in rows] == ["ana", "ben", "cleo"]
        for row in rows:
            assert row["score"] == max(0.0, 100.0 * (row["rating"] - 2.0 * row["deviation"]))
            tiers = {tier.least: tier.name for tier in read_display(SCALE).tiers}
            assert row["tier"] == tiers[max(least for least in tiers if round(row["score"]) >= least)]
    (row, *_) = visitor.get("/api/v1/pools/chess/leaderboard").json()["players"]
    assert (row["score"], row["tier"]) == (row["rating"], None)


def test_pages_show_the_score_first_and_the_tier(visitor):
    (row, *_) = visitor.get("/api/v1/pools/races/leaderboard").json()["players"]
    score, rating = f"{row['score']:.0f}", f"{row['rating']:.2f}"
    for page in ("", "/embed", "/players/ana"):
        text = visitor.get(f"/races{page}", headers={"Accept": "text/html"}).text
        assert score in text
        assert row["tier"] in text
    assert f'{score} <small class="soft desk">{rating} ±' in visitor.get("/races", headers={"Accept": "text/html"}).text
    message = visitor.get("/races/players/ana/badge.json").json()["message"]
    assert message.startswith(f"{score} ({rating} ±")
    assert message.endswith(f" · {row['tier']} · #1 of 3")
    assert "(" not in visitor.get("/chess/players/ana/badge.json").json()["message"]


def test_a_promotion_is_announced(store):
    first = next(entry for entry in store.log("races") if entry.kind == "submit")
    with store.reading("races") as pool:
        seq = pool.snapshot.seq
        (summary,) = news_after(pool, first.seq, None, 0, most=100).messages
        assert summary.lines[-1] == "Promoted: ana (Gold)."
    store.submit("races", duel(9, "cleo", "ben", "ana"))
    with store.reading("races") as pool:
        (message,) = news_after(pool, seq, None, 0, most=100).messages
        assert message.lines[-1] == "Promoted: cleo (Silver II)."


def test_tiers_can_be_percentages_of_the_players(store, visitor):
    store.describe_pool("chess", display="tiers=Master:1%,Expert:100%,Legend:9000")
    rows = visitor.get("/api/v1/pools/chess/leaderboard").json()["players"]
    assert [row["tier"] for row in rows] == ["Master", "Expert"]
    for scores, tiers in (((3.0, 2.0, 1.0), {"A": 3.0, "B": 2.0, "C": 2.0}), ((), {"A": math.inf, "B": math.inf})):
        found = read_display("tiers=C:2,B:70%,A:34%").least_scores(scores)
        assert {name: found[name] for name in tiers} == tiers
    store.describe_pool("chess", display="")


def test_the_display_is_stored_and_exported(store, tmp_path):
    exported = tmp_path / "races.jsonl"
    exported.write_text("".join(store.export_pool("races")), encoding="utf-8")
    with exported.open(encoding="utf-8", newline="\n") as lines:
        store.import_pool(lines, name="copy", source="races.jsonl")
    assert store.pool("copy").display == store.pool("races").display == read_display(SCALE)
    assert store.verify() == []
    store.describe_pool("copy", display="")
    assert store.pool("copy").display.text == ""


@pytest.mark.parametrize(
    "text",
    [
        "factor=0",
        "factor=x",
        "floor=nan",
        "ceiling=3",
        "tiers=",
        "tiers=A:1,A:2",
        "tiers=:3",
        "tiers=A",
        "tiers=A:0%",
        "x" * 2_000,
    ],
)
def test_an_invalid_display_is_rejected(text):
    with pytest.raises(ParameterError, match=r"^display: "):
        read_display(text)
