"""Margins and reversion to the mean in the system `adaptive`."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_adaptive import count_of, derivatives, in_python, pool_of, skills, start_of

import podium
from podium.engine import rules
from podium.engine.inputs import PRESENT, Occasion
from podium.engine.replay import newcomers
from podium.engine.tables.encoding import encode
from podium.errors import ParameterError
from podium.results.consistency import size_notice
from podium.systems import _adaptive_learnt, _adaptive_state, _adaptive_update
from podium.systems._adaptive_state import ENTRIES, MARGIN, REVERSION, SCALE, THETA, extras_at
from podium.systems.adaptive import Adaptive

BOTH = Adaptive(margin=True, reversion=0.1)


def duels(seed=1, events=120, heats=1, times=False, names="abcdefgh"):
    """Return duels a day apart in a few heats each. A score is three times the performance, rounded."""
    rng = np.random.default_rng(seed)
    skill = dict(zip(names, rng.normal(size=len(names)), strict=True))
    rows = []
    for k in range(events):
        x, y = rng.choice(list(skill), 2, replace=False)
        for heat in range(heats):
            lead = float(np.round(3.0 * (skill[x] - skill[y] + rng.logistic())))
            for player, score in ((x, 50.0 + max(lead, 0.0)), (y, 50.0 + max(-lead, 0.0))):
                when = np.datetime64("2024-01-01") + np.timedelta64(k, "D")
                row: dict[str, Any] = {"event_id": f"e{k}", "started_at": str(when), "player": str(player)}
                row |= {"time_s": 100.0 - score} if times else {"score": score}
                rows.append(row | ({"heat": str(heat)} if heats > 1 else {}))
    return pl.DataFrame(rows)


SEASON = duels()


@pytest.fixture(scope="module")
def rated():
    return podium.rate(SEASON, BOTH)


@pytest.mark.parametrize(
    ("history", "setting", "system"),
    [
        ("nfl", "margin", "adaptive:margin=true"),
        ("halo_team", "margin", "adaptive:margin=true"),
        ("snooker", "margin", "adaptive:margin=true"),
        ("halo_team", "size", "adaptive:size=true"),
        ("snooker", "margin+revert", "adaptive:margin=true,reversion=0.1"),
    ],
)
def test_the_log_loss_equals_the_prototypes(shared, history, setting, system):
    """The tolerance is 1e-5 with reversion, because the prototype changes the mean between entrants."""
    known = pl.read_csv(shared("truth/reference.csv")).filter(history=history, setting=setting).row(0, named=True)
    results = pl.read_parquet(shared(f"truth/data/{history}.parquet")).drop("published", strict=False)
    later = np.load(shared(f"truth/npz/{history}.npz"), allow_pickle=True)["later"]
    rated = podium.rate(results, system)
    chance, won = pl.col("expected"), pl.col("result")
    lost = -(won * chance.log() + (1.0 - won) * (1.0 - chance).log())
    loss = rated.predictions().group_by("event_id", maintain_order=True).agg(lost.mean().alias("lost"))["lost"]
    assert loss.to_numpy()[later].mean() == pytest.approx(
        known["later_mean_of_heats"], abs=1e-6 if "+" not in setting else 1e-5
    )
    assert rated.history["delta"].abs().max() == pytest.approx(known["largest_move"], abs=0.06)


@pytest.mark.parametrize("heats", [1, 3])
def test_derivatives_equal_central_differences(monkeypatch, heats):
    monkeypatch.setattr(_adaptive_learnt, "MARGIN_MEMORY", 1e300)  # the scale of margins and the level of active
    monkeypatch.setattr(_adaptive_state, "RECENT", 1e300)  # players are not parameters, so keep them fixed
    monkeypatch.setattr(_adaptive_update, "MODE_TOLERANCE", 1e-10)
    events = encode(podium.read_results(duels(3, 14, heats, names="abcd")), BOTH)
    start, count = start_of(BOTH), count_of(BOTH)
    start[[4, 5, count - REVERSION - 1, count - MARGIN - 1]] = 0.05, 0.02, 0.3, -0.4

    def ended(theta):
        pool = pool_of(BOTH, theta, 1e200)[0]
        pool[ENTRIES], pool[extras_at(count) :][:4] = 1e300, (0.2, 1e6, 20.0, -2.0)  # large enough for every margin
        return in_python(BOTH, events, newcomers(BOTH, events.player_names.len()), pool, range(14))[0]

    exact = derivatives(BOTH, ended(start), count - 2)
    moving = np.abs(exact).max(axis=(0, 1)) > 1e-4
    assert moving[[0, 1, 2, 3, 4, count - REVERSION - 1, count - MARGIN - 1]].all()
    for k in np.flatnonzero(moving):
        ends = [skills(BOTH, ended(start + step * np.eye(count)[k])) for step in (1e-5, -1e-5)]
        slope = (ends[0] - ends[1]) / 2e-5
        assert np.abs(slope - exact[:, :, k]).max() < 1e-4 * np.abs(exact[:, :, k]).max()


def test_the_weight_and_the_scale_of_margins_are_learnt(rated):
    pool, at = rated.replayed.pools[0], extras_at(count_of(BOTH))
    level, margins, square, scale = pool[at : at + 4]
    leads = np.diff(SEASON["score"].to_numpy().reshape(-1, 2))
    assert (margins, square) == (120.0, pytest.approx((leads * leads).mean()))
    assert 1.0 / 3.0 < math.exp(scale) < 2.0 / 3.0  # margins are wider than luck alone
    assert rated.learnt()["margin"][-1] != 50.0
    assert rated.learnt()["reversion"][-1] >= 0.0
    assert abs(level) < 1.0


def test_explanations_with_margins_add_up_and_name_the_margin(rated):
    wins_that_cost = 0
    for event, player, delta in rated.history.select("event_id", "player", "delta").iter_rows():
        explanation = rated.explain(event, player)
        assert explanation.rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)
        causes = explanation.rows["cause"].to_list()
        assert ("margin" in causes) == (int(event[1:]) >= 10)
        wins_that_cost += explanation.outcome == "won" and delta < 0.0
    assert 0 < wins_that_cost < 25
    (margin,) = [each for each in explanation.groups if "expected" in each.label]
    assert margin.kind == "cause"
    assert f"The margin ({margin.label[0].lower()}{margin.label[1:]})" in explanation.summary or margin.points
    totals = rated.reasons(player)
    assert "margins" in [each.reason for each in totals.reasons]


def test_contributions_of_several_heats_with_margins_add_up():
    rated = podium.rate(duels(heats=3, events=40), BOTH)
    for event, player, delta in rated.history.select("event_id", "player", "delta").tail(20).iter_rows():
        explanation = rated.explain(event, player)
        assert explanation.rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)
        assert "in 3 heats" in [each.label for each in explanation.groups if each.kind == "cause"][-1]


def test_live_ratings_equal_a_replay_and_row_order_does_not_matter(rated):
    live = podium.Live(BOTH)
    parts = [live.rate(event) for event in SEASON.partition_by("event_id", maintain_order=True)]
    assert pl.concat(parts).rows() == rated.history.rows()
    assert live.pool_state() == rated.pool_state()
    turned = podium.rate(SEASON.reverse().sort("started_at", maintain_order=True), BOTH)
    columns = ["player", "rating", "deviation"]
    assert turned.ratings.select(columns).sort("player")["rating"].to_list() == pytest.approx(
        rated.ratings.select(columns).sort("player")["rating"].to_list(), abs=1e-6
    )


def test_times_alone_give_the_margins_of_duels():
    scores, times = (podium.rate(each, "adaptive:margin=true") for each in (SEASON, duels(times=True)))
    assert times.history["rating"].to_list() == pytest.approx(scores.history["rating"].to_list(), abs=1e-9)


def test_without_a_margin_only_the_result_counts():
    """There is no margin in fields of three, if one side did not finish, or if only one score is known."""
    placed = SEASON.with_columns(position=pl.col("score").rank("min", descending=True).over("event_id"))
    third = pl.concat(
        [placed, placed.unique("event_id").with_columns(player=pl.lit("z"), position=pl.lit(3, pl.UInt32))]
    )
    alone = pl.col("player") == pl.col("player").first().over("event_id")
    halves = placed.with_columns(score=pl.when(alone).then("score"))
    quits = placed.with_columns(status=pl.when(alone).then(pl.lit("finished")).otherwise(pl.lit("quit")))
    for table in (third, halves, quits):
        with_scores, without = (podium.rate(each, "adaptive:margin=true") for each in (table, table.drop("score")))
        assert with_scores.history["rating"].to_list() == without.history["rating"].to_list()
        assert with_scores.pool_state().margins == 0.0


def test_a_sides_margin_uses_its_team_score_or_the_sum_of_its_scores():
    team = [row | {"team": row["player"], "team_score": row["score"], "player": f"{row['player']}{k}", "score": None}
            for row in SEASON.to_dicts() for k in (1, 2)]  # fmt: skip
    summed = [row | {"score": 0.5 * row["team_score"], "team_score": None} for row in team]
    one, other = (podium.rate(each, "adaptive:margin=true") for each in (team, summed))
    plain = podium.rate(team, "adaptive")
    assert one.history["rating"].to_list() == other.history["rating"].to_list()
    assert one.pool_state().margins == 120.0
    assert one.history["rating"].to_list() != plain.history["rating"].to_list()


def test_stakes_use_a_given_margin_or_name_the_usual_one(rated):
    usual, close = rated.stakes(["a", "b"], "a"), rated.stakes(["a", "b"], "a", margin=1.0)
    margin = rated.system.within(rated.replayed.pools[0]).usual_margin
    assert usual.method.endswith(f"Assumes a win by {margin:.3g}, this pool's usual margin.")
    assert close.method.endswith("Assumes a win by 1.")
    assert rated.stakes(["a", "b"], "a", margin=margin).frame["delta"].to_list() == usual.frame["delta"].to_list()
    assert close.frame["delta"][0] < usual.frame["delta"][0]
    live = podium.Live(BOTH)
    live.rate(SEASON)
    won = [{"event_id": "next", "player": name, "score": score} for name, score in (("a", 7.0), ("b", 6.0))]
    moved = live.rate([row | {"started_at": SEASON["started_at"].max()} for row in won])
    assert close.frame["delta"][0] == pytest.approx(moved.filter(player="a")["delta"].item(), abs=1e-9)
    sides = rated.stakes(sides=[["a", "b"], ["c", "d"]], player="a", margin=2.0)
    assert sides.method.endswith("Assumes a win by 2.")
    with pytest.raises(ParameterError, match="only a result between two sides has a margin"):
        rated.stakes(["a", "b", "c"], "a", margin=1.0)
    with pytest.raises(ParameterError, match="adaptive does not rate margins"):
        podium.rate(SEASON, "adaptive").stakes(["a", "b"], "a", margin=1.0)
    with pytest.raises(ParameterError, match=r"-1.0 is not a valid winning margin"):
        rated.stakes(["a", "b"], "a", margin=-1.0)


def test_what_if_uses_a_given_margin_or_names_the_usual_one(rated):
    event = "e100"
    winner, loser = (
        rated.history.filter(event_id=event)
        .join(SEASON, on=["event_id", "player"])
        .sort("score", descending=True)["player"]
    )
    lost = rated.history.filter(event_id=event, player=loser)["delta"].item()
    (usual,) = rated.what_if(event, loser).alternatives
    assert usual.words.startswith("won by ")
    assert usual.words.endswith(" (the usual margin) instead of losing")
    (close,) = rated.what_if(event, loser, margin=1.0).alternatives
    assert close.words == "won by 1 instead of losing"
    assert lost < close.delta < usual.delta
    assert rated.what_if(event, winner).alternatives == ()
    (other,) = rated.what_if(event, winner, margin=30.0).alternatives
    assert other.words == "won by 30 instead"
    scores = SEASON.filter(event_id=event)["score"].to_list()
    (same,) = rated.what_if(event, winner, margin=abs(scores[0] - scores[1])).alternatives
    assert same.delta == pytest.approx(rated.history.filter(event_id=event, player=winner)["delta"].item(), abs=1e-9)
    assert (
        podium.Live(BOTH).what_if(SEASON.filter(event_id=event), event, loser).alternatives[0].words
        == "won instead of losing"
    )


def uneven(events=90, seed=5):
    """Return matches of three against two or three. The larger side wins 90 % of the uneven matches."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(events):
        names, small = rng.permutation(9), 3 if k % 3 == 0 else 2
        wins = rng.random() < (0.5 if small == 3 else 0.9)
        for team, members, won in (("a", names[:3], wins), ("b", names[3 : 3 + small], not wins)):
            rows += [
                {"event_id": f"e{k}", "player": f"p{name}", "team": team, "team_score": float(won)} for name in members
            ]
    return pl.DataFrame(rows)


def test_team_sizes_count_if_they_differ():
    results = uneven()
    plain, sized = podium.rate(results, "adaptive"), podium.rate(results, "adaptive:size=true")
    three, two = ["p0", "p1", "p2"], ["p3", "p4"]
    assert sized.learnt()["size_mean"][-1] > 50.0
    more, less = (each.predict(sides=[three, two]).entrants["win"][0] for each in (sized, plain))
    assert more > less + 0.05
    both = (sized.predict(sides=sides).entrants["win"].sort().to_list() for sides in ([three, two], [two, three]))
    assert next(both) == pytest.approx(next(both), abs=1e-9)
    live = podium.Live("adaptive:size=true")
    parts = [live.rate(event) for event in results.partition_by("event_id", maintain_order=True)]
    assert pl.concat(parts).rows() == sized.history.rows()
    assert live.pool_state() == sized.pool_state()
    for event, player, delta in sized.history.select("event_id", "player", "delta").tail(15).iter_rows():
        assert sized.explain(event, player).rows["contribution"].sum() == pytest.approx(delta, abs=1e-9)
    even = results.filter(pl.col("event_id").str.extract(r"(\d+)").cast(int) % 3 == 0)
    without, with_sizes = (podium.rate(even, system).history["rating"] for system in ("adaptive", "adaptive:size=true"))
    assert with_sizes.to_list() == pytest.approx(without.to_list(), abs=1e-9)


def test_check_warns_of_sides_of_different_sizes():
    notice = size_notice(uneven())
    assert notice is not None
    assert notice.startswith("sides differ in size in 60 of 90 matches;")
    assert size_notice(uneven().with_columns(played_s=60.0)) is None
    assert size_notice(SEASON) is None


def test_the_system_with_margins_passes_check_system():
    podium.check_system(BOTH, histories=1)


def test_huge_and_equal_scores_leave_finite_ratings():
    for scores in ((0.0, 0.0), (1e300, -1e300), (5.0, 5.0)):
        rows = [{"event_id": f"e{k}", "player": name, "position": 1 + (k + j) % 2, "score": scores[(k + j) % 2]}
                for k in range(30) for j, name in enumerate("ab")]  # fmt: skip
        assert podium.rate(rows, "adaptive:margin=true").ratings["rating"].is_finite().all()


def test_reversion_moves_ratings_towards_the_mean_of_active_players():
    system, day = Adaptive(reversion=0.1, growth=False), 738_000.0
    pool, count = np.array(system.new_pool()), count_of(system)
    pool[THETA + count - REVERSION - 1], pool[extras_at(count)] = 0.5, 0.3
    params = system.within(pool, Occasion(day, -1.0)).params()
    known = system.newcomer()._replace(rating=1700.0, deviation=90.0, events=5.0, first=1.0, last=day - 2.0 * 365.25)
    entering = rules.enter(params, known, PRESENT)
    assert entering.mean == pytest.approx(0.3 + (200.0 / SCALE - 0.3) * math.exp(-0.5 * 2.0))
    still = rules.enter(params._replace(reversion=0.0), known, PRESENT)
    assert still.rating == 1700.0
    assert entering.variance < still.variance
