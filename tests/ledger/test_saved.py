"""Rating on from saved ratings gives exactly the same results as one run, and invalid starts are rejected."""

import json
import re
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from commands import run
from extent import several
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import histories

import podium
from podium.analysis.audit import audit
from podium.systems import find, names

every_system = pytest.mark.parametrize("name", names())
GROWING = {"idle_growth": 20.0, "drift": 50.0}


def with_idle_growth(name):
    """Return the system with idle growth, if it has this parameter."""
    system = find(name)
    known = set(system.__dataclass_fields__)
    on = {key: value for key, value in GROWING.items() if key in known}
    if "idle_growth" in on and isinstance(system().idle_growth, bool):
        on["idle_growth"] = True
    return system(**on)


def spread(rows, days):
    """Return the rows with these numbers of days between events, from 1969 on."""
    ids = list(dict.fromkeys(row["event_id"] for row in rows))
    start = datetime(1969, 12, 20, 5, tzinfo=UTC)
    when = {each: (start + timedelta(days=sum(days[: k + 1]))).isoformat() for k, each in enumerate(ids)}
    return [row | {"started_at": when[row["event_id"]]} for row in rows]


def newcomers_and_leavers(rows, cut):
    """Add a player who stops before the cut, and one who begins after it."""
    late = {row["event_id"] for row in rows[cut:]}
    return [
        row | {"player": {"ana": "zoe" if row["event_id"] in late else "ana"}.get(row["player"], row["player"])}
        for row in rows
    ]


def bits(frame):
    """Return a frame's rows with floats as their bits."""
    return frame.with_columns(pl.col(pl.Float64).map_batches(lambda each: each.to_numpy().view("int64"))).rows()


@st.composite
def seasons(draw, pause=0):
    """Return a history of several months, and the first row of the event at which it is cut, after a pause."""
    rows = draw(histories(heats=2))
    ids = list(dict.fromkeys(row["event_id"] for row in rows))
    days = draw(st.lists(st.integers(0, 40), min_size=len(ids), max_size=len(ids)))
    number = draw(st.integers(1, len(ids)))
    days[number - 1] += pause
    cut = next((k for k, row in enumerate(rows) if row["event_id"] == ids[number - 1]), 0)
    return newcomers_and_leavers(spread(rows, days), cut), cut


@pytest.mark.parametrize("name", several(names()))
@settings(max_examples=8)
@given(season=seasons())
def test_rating_in_two_parts_gives_the_bits_of_one_run(name, season, tmp_path_factory):
    rows, cut = season
    system = with_idle_growth(name)
    whole = podium.rate(rows, system)
    path = tmp_path_factory.getbasetemp() / f"{name}.parquet"
    start, history = None, []
    for half in (rows[:cut], rows[cut:]):
        if half:
            rated = podium.rate(half, system, start=start)
            history += bits(rated.history)
            rated.save(path)
            start = path
    assert bits(rated.states) == bits(whole.states)
    assert history == bits(whole.history)
    assert bits(rated.leaderboard().drop("peak")) == bits(whole.leaderboard().drop("peak"))
    for event, player in rated.history.tail(1).select("event_id", "player").iter_rows():
        again, first = rated.explain(event, player), whole.explain(event, player)
        assert again.summary == first.summary
        assert bits(again.rows) == bits(first.rows)


@pytest.mark.parametrize("name", several(name for name in names() if find(name).takes_periods))
@settings(max_examples=8)
@given(season=seasons(pause=32), period=st.sampled_from(["1d", "1w", "1mo"]))
def test_a_cut_at_the_end_of_a_rating_period_gives_the_same_bits(name, season, period):
    rows, cut = season
    system = with_idle_growth(name)
    whole = podium.rate(rows, system, period=period)
    start = podium.rate(rows[:cut], system, period=period) if cut else None
    rated = podium.rate(rows[cut:], system, period=period, start=start)
    assert bits(rated.states) == bits(whole.states)
    assert bits(rated.history) == bits(whole.history.tail(rated.history.height))


@pytest.mark.parametrize("name", ["elo-mmr", "stk-rd", "glicko"])
@settings(max_examples=8)
@given(season=seasons())
def test_live_ratings_continue_from_saved_ratings(name, season):
    rows, cut = season
    system = with_idle_growth(name)
    start = podium.rate(rows[:cut], system) if cut else None
    live = podium.Live(system, start=start)
    for event in dict.fromkeys(row["event_id"] for row in rows[cut:]):
        live.rate([row for row in rows[cut:] if row["event_id"] == event])
    whole = podium.rate(rows, system).states
    for (pool, player), state in live.ratings.items():
        (expected,) = whole.filter(pool=pool, player=player).select(system.state_type._fields).rows()
        assert tuple(state) == expected


HIDDEN = {  # some of the columns that are left out of tables for people
    "elo-mmr": {"normal", "factors", "mean_1"},
    "adaptive": {"last", "mean_noise", "variance_rest", "pool_noise"},
}


@every_system
def test_the_table_for_people_is_a_complete_start_unless_it_leaves_out_columns(name, tmp_path):
    """A CSV file of the ratings gives exactly the same results, if the state has no hidden fields."""
    rows = spread(SEASON_OF_THREE, [3] * 6)
    system = with_idle_growth(name)
    first = podium.rate(rows[:9], system)
    first.ratings.with_columns(pl.col("last_played_at").dt.to_string("iso:strict")).write_csv(tmp_path / "ratings.csv")
    on = podium.rate(rows[9:], system, start=tmp_path / "ratings.csv")
    whole = podium.rate(rows, system)
    if name in HIDDEN:
        assert set(on.states.columns) - set(on.ratings.columns) >= HIDDEN[name]
        before = on.history.filter(event_id="e3").sort("player")["rating_before"]
        assert before.to_list() == first.ratings.sort("player")["rating"].to_list()
    else:
        assert bits(on.states) == bits(whole.states)


SEASON_OF_THREE = [
    {"event_id": f"e{number}", "player": player, "position": place, "time_s": 60.0 + place, "score": -place}
    | {"status": "quit" if player == "cleo" and number % 2 else "finished", "played_s": 500.0, "duration_s": 600.0}
    for number, order in enumerate(["abc", "acb", "bac", "cab", "abc", "bca"])
    for place, player in enumerate([{"a": "ana", "b": "ben", "c": "cleo"}[letter] for letter in order], start=1)
]


# Fields that a given rating changes in systems with unrated players.
WITH_A_RATING = {"dwz": {"rated", "tournaments"}, "fide": {"rated"}, "uscf": {"games"}}


@every_system
def test_a_start_with_only_a_rating_is_otherwise_a_newcomers(name):
    system = find(name)()
    newcomer = system.newcomer()
    start = [{"player": "ana", "rating": newcomer.rating}, {"player": "ben", "rating": newcomer.rating + 300.0}]
    rated = podium.rate(SEASON_OF_THREE[:3], system, start=start)
    fresh = podium.rate(SEASON_OF_THREE[:3], system)
    before = dict(rated.history.select("player", "rating_before").iter_rows())
    assert before["ben"] - before["ana"] == pytest.approx(300.0)
    assert before["cleo"] == dict(fresh.history.select("player", "rating_before").iter_rows())["cleo"]
    states = podium.rate(SEASON_OF_THREE[:3], system, start=[{"player": "zoe", "rating": newcomer.rating}]).states
    zoe = states.filter(player="zoe").row(0, named=True)
    for field in set(system.state_type._fields) - WITH_A_RATING.get(name, set()):
        assert zoe[field] == pytest.approx(getattr(newcomer, field))
    assert states["player"].to_list().count("zoe") == 1


def test_inactive_players_and_pools_without_results_keep_their_ratings():
    start = [
        {"pool": "karts", "player": "ana", "rating": 1600.0, "events": 3, "last_played_at": "2024-05-01"},
        {"pool": "boats", "player": "ana", "rating": 1400.0, "events": 2, "last_played_at": None},
    ]
    rows = [
        row | {"pool": "karts", "started_at": "2025-01-01"} for row in SEASON_OF_THREE[:3] if row["player"] != "ana"
    ]
    rated = podium.rate(rows, "elo", start=start)
    ratings = rated.ratings.select("pool", "player", "rating", "events").rows()
    assert ratings[0] == ("boats", "ana", 1400.0, 2)
    assert ratings[1] == ("karts", "ana", 1600.0, 3)
    assert rated.leaderboard(pool="boats")["rating"].to_list() == [1400.0]
    assert rated.expected("ana", "ben", pool="boats") == pytest.approx(1.0 / (1.0 + 10.0**0.25))
    with pytest.raises(podium.ParameterError, match="last_played_at"):
        rated.leaderboard(at="2025-06-01")
    with pytest.raises(podium.ParameterError, match="the whole history"):
        audit(rated)


def test_all_players_keep_their_ratings_if_no_result_counts():
    rows = [row | {"status": "did_not_start"} for row in SEASON_OF_THREE]
    empty = pl.DataFrame(schema={"event_id": pl.String, "player": pl.String, "position": pl.Float64})
    for results in (rows, empty):
        rated = podium.rate(results, "elo", start=[{"player": "ana", "rating": 1600.0, "events": 3}])
        assert rated.ratings.select("pool", "player", "rating", "events").rows() == [("default", "ana", 1600.0, 3)]
        assert rated.leaderboard()["player"].to_list() == ["ana"]
        assert rated.expected("ana", "zoe") > 0.5
        again = podium.rate(results, "elo", start=podium.rate(results, "elo"))
        assert again.states.height == 0


def test_the_last_known_time_remains_if_results_have_no_dates():
    start = [{"player": "ana", "rating": 1600.0, "last_played_at": "2024-05-01T10:00:00Z"}]
    ratings = podium.rate(SEASON_OF_THREE[:3], "elo", start=start).ratings
    assert ratings.filter(player="ana")["last_played_at"].item() == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert ratings.filter(player="ben")["last_played_at"].item() is None


ANA = {"player": "ana", "rating": 1500.0}


@pytest.mark.parametrize(
    ("system", "start", "message"),
    [
        ("elo", [ANA, ANA], "row 2, column player: 'ana' appears twice"),
        ("elo", [{"player": "ana"}], "column rating: is missing"),
        ("elo", [{"rating": 1.0}], "column player: is missing"),
        ("elo", [ANA, {"player": "ben", "rating": None}], "row 2, column rating: is empty"),
        ("elo", [ANA, {"player": None, "rating": 1.0}], "row 2, column player: is empty"),
        ("elo", [ANA | {"rating": float("nan")}], "row 1, column rating: nan must be a number"),
        ("elo", [ANA | {"rating": float("inf")}], "column rating: inf must be a number"),
        ("elo", [ANA | {"rating": "high"}], "column rating: 'high' must be a number"),
        ("elo", [ANA | {"rating": True}], "column rating: holds Boolean"),
        ("elo", [ANA | {"deviation": 50.0}], "column deviation: is not a column of elo's ratings"),
        ("elo", [ANA | {"events": -1}], "column events: -1.0 must be a whole number"),
        ("elo", [ANA | {"events": 1.5}], "column events: 1.5 must be a whole number"),
        ("elo", [ANA | {"last_played_at": "soon"}], "column last_played_at: 'soon' is not a date"),
        ("glicko", [ANA | {"deviation": 0.0}], "column deviation: 0.0 must be a number above 0"),
        ("glicko2", [ANA | {"volatility": -0.1}], "column volatility: -0.1 must be a number of at least 0"),
        ("stk", [ANA | {"peak": 1400.0}], "column peak: 1400.0 is below the rating"),
        ("stk-rd", [ANA | {"disconnects": -1}], "column disconnects: -1 must be a whole number"),
        ("elo-mmr", [ANA | {"factors": 3}], "column normal: is empty, but factors is not"),
        ("elo-mmr", [ANA | {"factors": 17}], "column factors: 17.0 must be a whole number from 0 to 16"),
        ("elo", [ANA | {"pool": None}], "row 1, column pool: is empty; the results contain several"),
        ("elo", "missing.csv", "missing.csv: cannot be read"),
        ("elo", [], "column player: is missing"),
    ],
)
def test_errors_in_a_start_name_row_and_column(system, start, message):
    pooled = [row | {"pool": "one" if row["event_id"] == "e0" else "two"} for row in SEASON_OF_THREE]
    rows = pooled if "pool" in message else SEASON_OF_THREE
    with pytest.raises(podium.ResultsError, match=re.escape(message)):
        podium.rate(rows, system, start=start)


def test_another_system_parameter_or_period_is_rejected(tmp_path):
    rows = spread(SEASON_OF_THREE, [3] * 6)
    path = tmp_path / "ratings.parquet"
    podium.rate(rows[:9], "elo").save(path)
    origin = pl.read_parquet_metadata(path)
    assert origin["podium.system"] == "elo"
    assert json.loads(origin["podium.parameters"])["k"] == 24.0
    assert origin["podium.version"] == podium.__version__
    for options, message in (
        ({"system": "glicko"}, "ratings.parquet holds ratings of elo, not of glicko"),
        ({"k": 20.0}, "was rated by elo with k 24, but now it is 20"),
        ({"period": "1mo"}, "was rated with the period event, not 1mo"),
    ):
        with pytest.raises(podium.ParameterError, match=re.escape(message)):
            podium.rate(rows[9:], start=path, **options)


def test_results_older_than_the_saved_ratings_are_rejected():
    rows = spread(SEASON_OF_THREE, [3] * 6)
    with pytest.raises(podium.ResultsError, match=r"row 1, column started_at: .* is before the latest event"):
        podium.rate(rows, "elo", start=podium.rate(rows[:9], "elo"))
    start = podium.rate(rows[:9], "elo", period="1mo")
    with pytest.raises(podium.ResultsError, match="in a rating period that the saved ratings already include"):
        podium.rate(spread(SEASON_OF_THREE, [10, 0, 0, 0, 0, 0])[9:], "elo", period="1mo", start=start)


def test_commands_continue_from_saved_ratings(tmp_path):
    rows = pl.DataFrame(spread(SEASON_OF_THREE, [3] * 6))
    files = {"early": rows[:9], "late": rows[9:], "all": rows}
    for name, frame in files.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    for system in ("elo-mmr", "stk-rd"):
        saved, on, whole = (tmp_path / f"{system}-{name}.parquet" for name in ("early", "on", "whole"))
        run("rate", tmp_path / "early.csv", "-s", system, "--ratings", saved)
        run("rate", tmp_path / "late.csv", "-s", system, "--start", saved, "--ratings", on)
        run("rate", tmp_path / "all.csv", "-s", system, "--ratings", whole)
        assert bits(pl.read_parquet(on)) == bits(pl.read_parquet(whole))
    words = ("-s", "stk-rd", "--start", saved, "-f", "json")
    board = json.loads(run("leaderboard", tmp_path / "late.csv", *words))
    assert [row["rating"] for row in board] == pl.read_parquet(whole)["rating"].to_list()
    why = json.loads(run("explain", tmp_path / "late.csv", "-e", "e3", "-p", "ana", *words))
    assert why["rating_before"] == pl.read_parquet(saved).filter(player="ana")["rating"].item()
    message = run("rate", tmp_path / "late.csv", "-s", "elo", "--start", saved, status=2)
    assert "stk-rd-early.parquet holds ratings of stk-rd, not of elo" in message


def test_saved_ratings_include_shared_equipment(tmp_path):
    """Equipment is in the states, in their files and in live ratings that start with them, but on no leaderboard."""
    system = find("adaptive")(shared="car/tyres")
    rows = [
        {"event_id": f"e{event:02}", "started_at": f"2025-01-{event + 1:02}", "player": player, "position": place}
        | {"shared:car": "rst"[(place + event) % 3], "side": "home" if place == event % 4 else "away"}
        | {"shared:tyres": "soft" if event < 9 else f"hard{place % 2}"}
        for event in range(20)
        for place, player in enumerate("abcd"[event % 4 :] + "abcd"[: event % 4])
        if place < 4 - event % 2
    ]
    rows = [row | {"position": row["position"] + 1} for row in rows]
    earlier, later = ([row for row in rows if (row["event_id"] > "e11") is late] for late in (False, True))
    whole, half = podium.rate(rows, system), podium.rate(earlier, system)
    half.save(tmp_path / "half.parquet")
    half.states.write_csv(tmp_path / "half.csv")
    known = dict(whole.states.filter(pl.col("kind").is_not_null()).select("player", "rating").iter_rows())
    assert set(known) == {"r", "s", "t", "soft", "hard0", "hard1"}
    for start in (half, half.states, tmp_path / "half.parquet", tmp_path / "half.csv"):
        rated = podium.rate(later, system, start=start)
        assert rated.ratings["player"].to_list() == whole.ratings["player"].to_list()
        columns = [name for name in whole.states.columns if name not in ("pool", "player", "last_event_id", "kind")]
        for name in ("rating", "deviation", "events", *columns):
            ours, theirs = (each.states.sort("kind", "player")[name] for each in (rated, whole))
            assert ours.equals(theirs, null_equal=True), (start, name)
        assert rated.leaderboard()["player"].to_list() == whole.leaderboard()["player"].to_list()
        live = podium.Live(system, start=start)
        assert set(live.leaderboard()["player"]) == set("abcd")
        for event in sorted({str(row["event_id"]) for row in later}):
            live.rate([row for row in later if row["event_id"] == event])
        assert {name: live.ratings["default", f"\x1f{kind}\x1f{name}"].rating for kind, name in (
            whole.states.filter(pl.col("kind").is_not_null()).select("kind", "player").iter_rows()
        )} == known  # fmt: skip
    later_alone = podium.rate(later, system)
    assert later_alone.ratings["rating"].to_list() != whole.ratings["rating"].to_list()
