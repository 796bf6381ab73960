"""An explanation names the cause, with numbers that add up as shown and in clear sentences."""

import re
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from extent import FULL
from sentences import GOLDEN, history, sentences

import podium
from podium.cli.demo import season_path
from podium.cli.terminal.show import explanation_text
from podium.ledger.reasons import duels
from podium.support.words import shown, shown_change
from podium.systems import names


def season(pool):
    frame = podium.read_results(season_path()).frame
    return podium.Results(frame.filter(pl.col("pool") == pool), "season")


def check_sums(why):
    """Check that shown numbers add up as shown, and exact contributions to the exact change."""
    assert why.rows["contribution"].sum() == pytest.approx(why.delta, abs=1e-9)
    change = shown_change(why.rating_before, why.rating_after, why.digits)
    assert sum(group.shown for group in why.groups) == change == why.shown_change
    for number, group in enumerate(why.groups):
        cells = [shown(cell, why.digits) for cell in why.rows_of(number)["shown"]]
        assert sum(cells, Decimal(0)) == group.shown
        assert group.points == pytest.approx(why.rows_of(number)["contribution"].sum(), abs=1e-9)


def check_sums_of_text(text):
    """Check that printed numbers add up: outer lines to the rating after, inner lines to their outer line."""
    lines = [re.fullmatch(r"( +)\S.*?  +([+−]?[\d.]+)(  \(([+−]?[\d.]+)\))?", line) for line in text.splitlines()]  # noqa: RUF001
    found = [(len(line[1]), Decimal(line[2].replace("−", "-")), line[4]) for line in lines if line]  # noqa: RUF001
    (_, before, _), *parts, (_, after, change) = found
    least = min(indent for indent, _, _ in parts)
    assert before + sum(number for indent, number, _ in parts if indent == least) == after
    assert after - before == Decimal(change.replace("−", "-"))  # noqa: RUF001
    for k, (indent, number, _) in enumerate(parts):
        inner = []
        for deeper, each, _ in parts[k + 1 :]:
            if deeper <= indent:
                break
            inner.append(each)
        assert not inner or sum(inner) == number


def test_a_winner_who_lost_points_by_quitting_a_heat():
    why = podium.rate(season("bikes"), "trials").explain("bikes-058", "Dragana")
    assert why.verdict == "Dragana won, but lost 40.5 points."
    assert why.cause == "Quitting heat 2 cost 33.4 of them."
    words = [(group.label, group.result, str(group.shown)) for group in why.groups]
    assert words == [
        ("Heat 1", "won 3 of 5", "-11.7"),
        ("Heat 2", "quit, lost all 5", "-33.4"),
        ("Heat 3", "won 4 of 5, drew 1", "-0.9"),
        ("Heat 4", "won all 5", "2.8"),
        ("Overall", "won all 5", "2.7"),
    ]
    assert why.duels.headline == "Won 17.5 of 25 duels; 23.1 were expected."
    assert why.duels.meaning == (
        "A duel is Dragana against one opponent in one heat: 5 opponents, 4 heats, and the overall result counts as "
        "one more heat. A draw counts as half."
    )
    order = "Dragana 171, Otto 138, Chidi 135, Mateo 134, Jun 111, Old Tom 75"
    assert why.ranked_by == f"Ranked by the sum of the heats' scores: {order}."
    assert why.standings.filter(heat="overall").sort("place")["score"].to_list() == [171, 138, 135, 134, 111, 75]
    assert why.standings.filter(heat="2", player="Dragana")["status"].item() == "quit"
    check_sums(why)
    check_sums_of_text(explanation_text(why))


def test_examples_in_the_documentation_add_up():
    page = (Path(__file__).parents[2] / "docs" / "explanations.md").read_text(encoding="utf-8")
    commands = page.split("    podium explain ")[1:]
    assert len(commands) == 2
    for text in commands:
        check_sums_of_text(text.partition("What if")[0])


@pytest.mark.parametrize("name", names())
def test_sentences_equal_the_reviewed_ones(name):
    """`python tests/sentences.py` writes the file again. Read it before you commit it."""
    parts = GOLDEN.read_text(encoding="utf-8").split("== ")
    expected = next(part for part in parts if part.startswith(f"{name}\n")).splitlines()[1:]
    explained = []
    written = list(sentences(name, 100 if FULL else 6, explained))
    assert written == expected[: len(written)]
    for why in explained:
        check_sums(why)


def test_no_sentence_has_a_known_defect():
    text = GOLDEN.read_text(encoding="utf-8")
    assert text.count("\n== ") + 1 == len(names())
    for line in text.splitlines():
        assert not re.search(
            r"None|nan|inf\b|  \.|\.\.|,,|lost and lost|won and won|drew and drew|kept your rating\w", line
        )
        assert not re.search(r"\b1 opponents|\b[2-9] opponent\b|\bpoints points|rated level|cost -|brought -", line)
        if re.match(r"e\d\d ", line):
            assert line.endswith(".")
            for count, of in re.findall(r"beat (\d+) of (\d+)", line):
                assert int(count) < int(of) <= 21


def test_a_large_field_has_bands_with_their_limits():
    rated = podium.rate(history(), "elo")
    wide = rated.explain("e60", "Pia")
    labels = [group.label for group in wide.groups]
    assert all(re.fullmatch(r"(200\+|50 to 199) (below|above)|Within 50", label) for label in labels)
    for number, group in enumerate(wide.groups):
        gaps = [int(shown(gap, 0)) for gap in wide.rows_of(number)["gap"]]
        low, high = {"2": (-9999, -200), "5": (-199, -50), "W": (-49, 49)}[group.label[0]]
        if "above" in group.label:
            low, high = -high, -low
        assert all(low <= gap <= high for gap in gaps)
        assert len(gaps) == group.duels


@pytest.mark.parametrize("name", ["elo", "adaptive"])
def test_large_and_small_heats_are_explained_alike(name, monkeypatch):
    """The heats have two quitters who are not compared with each other."""
    rows = [
        {"event_id": "e", "heat": heat, "player": f"p{number}", "score": float((7 * number) % 9)}
        | {"status": "quit" if number in {2, 5} else "finished"}
        for heat, size in (("1", 9), ("2", 7))
        for number in range(size)
    ]
    rated = podium.rate(rows, name)
    plain = [rated.explain("e", f"p{number}") for number in range(9)]
    totals = [rated.reasons(one.player) for one in plain]
    monkeypatch.setattr(duels, "COMPILED_MIN_ENTRIES", 2)
    assert [rated.reasons(one.player) for one in plain] == totals
    for one in plain:
        other = rated.explain("e", one.player)
        assert other.to_dict() == one.to_dict()
        assert other.rows.equals(one.rows)


def test_an_explanation_names_players_who_are_not_compared_and_why():
    ended = dict(zip("cdefg", ("dnf", "quit", "dnf", "disqualified", "did_not_start"), strict=True))
    rows = [
        {"player": "a", "position": 1, "time_s": 60.5},
        {"player": "b", "position": 2, "time_s": 61.75},
        *({"player": name, "status": status} for name, status in ended.items()),
    ]
    rated = podium.rate([row | {"event_id": "e"} for row in rows], "elo")
    why = rated.explain("e", "c")
    assert why.verdict == "c did not finish and lost 12.0 points."
    assert why.outcome == "did not finish"
    words = "Not compared: d and e (did not finish either); f (disqualified); g (did not start)."
    assert why.duels.not_compared == words
    assert why.duels.headline == "Won 0 of 2 duels; 1.0 were expected."
    places = "a 60.5 s, b +1.25, c did not finish, d quit, e did not finish"
    assert why.ranked_by == f"Ranked as submitted: {places}."
    assert why.standings["gap_s"].drop_nulls().to_list() == [0.0, 1.25]
    with pytest.raises(podium.UnknownError, match="'f' is not rated in event 'e': it was not ranked"):
        rated.explain("e", "f")
    scored = [{"event_id": "e", "player": "a", "position": 1, "score": 7}]
    scored += [{"event_id": "e", "player": "b", "position": 2, "score": 9}]
    assert podium.rate(scored, "elo").explain("e", "a").ranked_by == "Ranked as submitted: a 7, b 9."


@pytest.mark.parametrize(
    ("event_id", "player", "meant"),
    [
        ("winter", "Ben", "Grand winter cup"),  # only this one contains it
        ("Grand wintr cup", "Ben", "Grand winter cup"),
        ("Grand winter cup", "lopez", "Ana Lopez"),
        ("Grand winter cup", "ANA LOPES", "Ana Lopez"),
        ("cup", "Ben", None),  # both contain it
    ],
)
def test_unknown_events_and_players_get_suggestions(event_id, player, meant):
    names = ("Grand winter cup", "Summer cup, in the rain")
    field = enumerate(("Ana Lopez", "Ben"), start=1)
    rows = [{"player": name, "position": place} for place, name in field]
    rated = podium.rate([row | {"event_id": name} for name in names for row in rows], "elo")
    with pytest.raises(podium.UnknownError) as caught:
        rated.explain(event_id, player)
    assert re.findall("did you mean '(.*)'", str(caught.value)) == ([meant] if meant else [])


def test_a_period_has_a_group_for_each_event():
    rows = [
        {"event_id": event, "started_at": f"2025-01-0{day}", "player": player, "position": place}
        for day, (event, order) in enumerate((("first", "ab"), ("second", "ba"), ("third", "ab")), 1)
        for place, player in enumerate(order, 1)
    ]
    rated = podium.rate(rows, "glicko2", period="1mo")
    why = rated.explain("third", "a")
    assert [group.label for group in why.groups] == ["Event first", "Event second", "Event third"]
    assert why.verdict.startswith("a gained ")
    assert why.outcome == ""
    check_sums(why)
    waits = rated.explain("first", "a")
    assert waits.verdict == "a's rating is updated at the end of the rating period, with the last event in it."
    assert waits.groups == ()
    assert waits.to_dict()["shown"]["change"] == 0.0


def test_explanations_of_the_newest_formula_1_race_add_up(shared):
    results = podium.read_results(shared("data/f1.parquet"))
    last = results.frame.sort("started_at").filter(pl.col("event_id") == pl.col("event_id").last())
    rated = podium.rate(results, "elo")
    for player in last["player"].to_list()[::7]:
        why = rated.explain(last["event_id"][0], player)
        check_sums(why)
        check_sums_of_text(explanation_text(why))
    left = rated.explain(last["event_id"][0], last.filter(pl.col("status") == "dnf")["player"][0])
    assert "did not finish and lost" in left.verdict
    assert "(did not finish either)" in left.duels.not_compared
