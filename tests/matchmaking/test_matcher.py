"""Matches: nobody plays twice or waits too long, even matches come first, and policies differ in their effect."""

import itertools
import json

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.cli.commands import build
from podium.engine.inputs import PRESENT
from podium.engine.rules import enter, expect
from podium.matchmaking.lab import Crowd, compare_policies, replayed_arrivals, try_arrivals, try_crowd
from podium.matchmaking.matcher import Policy, Ticket, match
from podium.matchmaking.pairing import match_quality, odds_scale
from podium.systems import find, names

POLICIES = [Policy(), Policy(size=2), Policy(size=6, teams=2, least=2), Policy(size=9, teams=3, least=3)]


@st.composite
def crowds(draw):
    """Draw tickets, some in parties, from two regions, with old and new ones."""
    tickets = []
    for number in range(draw(st.integers(0, 40))):
        tickets.append(
            Ticket(
                f"p{number}",
                draw(st.sampled_from([1000.0, 1500.0, 1500.5, 1700.0, 2500.0])) + draw(st.floats(-50.0, 50.0)),
                draw(st.floats(0.0, 130.0)),
                draw(st.sampled_from([0.0, 60.0, 350.0])),
                party=f"party {number // 2}" if number % 5 == 0 or number % 5 == 1 else None,
                region="eu" if number // 2 % 3 else "us",
            )
        )
    return [each for each in tickets if each.party is None or sum(t.party == each.party for t in tickets) <= 2]


@settings(max_examples=60)
@given(tickets=crowds(), policy=st.sampled_from(POLICIES), seed=st.randoms(use_true_random=False))
def test_matches_follow_the_policy(tickets, policy, seed):
    now = 130.0
    matches = match(tickets, now, policy)
    shuffled = list(tickets)
    seed.shuffle(shuffled)
    assert match(shuffled, now, policy) == matches
    by_name = {ticket.player: ticket for ticket in tickets}
    matched = [player for each in matches for player in each.players]
    assert len(set(matched)) == len(matched)
    for each in matches:
        mine = [by_name[player] for player in each.players]
        assert policy.least <= len(mine) <= policy.size
        assert sorted(player for team in each.teams for player in team) == sorted(each.players)
        assert len(each.teams) == (policy.teams or len(mine))
        late = max(now - ticket.since for ticket in mine) >= policy.target_s
        assert late or (len(mine) == policy.size and len({ticket.region for ticket in mine}) == 1)
        ratings = [ticket.rating for ticket in mine]
        assert each.spread == pytest.approx(max(ratings) - min(ratings))
        assert each.waited_s == pytest.approx(max(now - ticket.since for ticket in mine))
        assert 0.0 <= each.quality <= 1.0 + 1e-12
        if policy.teams:
            assert len({len(team) for team in each.teams}) == 1
        for ticket in mine:
            mates = [other.player for other in tickets if ticket.party and other.party == ticket.party]
            team = next(team for team in each.teams if ticket.player in team)
            assert set(mates) <= set(each.players)
            if policy.teams:
                assert set(mates) <= set(team)
    left = [ticket for ticket in tickets if ticket.player not in set(matched)]
    overdue = [ticket for ticket in left if now - ticket.since >= policy.target_s]
    # Late players stay unmatched only if there are fewer than the smallest match.
    if not policy.teams:
        assert len(overdue) < 3


def test_the_rating_window_widens_with_the_waiting_time():
    """Two players far apart wait for better opponents until their time is up. Two equals do not."""
    far = [Ticket("a", 1000.0, 0.0), Ticket("b", 2000.0, 0.0)]
    duel = Policy(size=2)
    assert match(far, 10.0, duel) == []
    assert len(match(far, 40.0, duel)) == 1
    near = [*far, Ticket("c", 1001.0, 5.0), Ticket("d", 1999.0, 5.0)]
    matches = match(near, 10.0, duel)
    assert sorted(sorted(each.players) for each in matches) == [["a", "c"], ["b", "d"]]


def test_teams_are_balanced_and_a_certain_result_has_no_quality():
    tickets = [Ticket(f"p{rating}", float(rating), 0.0) for rating in (2000, 1800, 1600, 1400)]
    (even,) = match(tickets, 40.0, Policy(size=4, teams=2))
    assert sorted(sum(int(player[1:]) for player in team) for team in even.teams) == [3400, 3400]
    assert even.quality == pytest.approx(1.0)
    (one_sided,) = match([Ticket("a", 0.0, 0.0), Ticket("b", 4000.0, 0.0)], 40.0, Policy(size=2))
    assert one_sided.quality < 1e-6
    (unsure,) = match([Ticket("a", 0.0, 0.0, 350.0), Ticket("b", 4000.0, 0.0, 350.0)], 40.0, Policy(size=2))
    assert unsure.quality > one_sided.quality


def tickets_of(*parties):
    """Return tickets of parties, each given as a tuple of ratings."""
    return [
        Ticket(f"p{number}.{k}", rating, 0.0, party=f"party {number}" if len(ratings) > 1 else None)
        for number, ratings in enumerate(parties)
        for k, rating in enumerate(ratings)
    ]


def sums(tickets, matched):
    """Return the sums of ratings of the sides."""
    rating = {ticket.player: ticket.rating for ticket in tickets}
    return [sum(rating[player] for player in team) for team in matched.teams]


def least_range(parties, teams):
    """Return the smallest possible range of the sides' sums over all divisions of the parties into equal sides."""
    room = sum(map(len, parties)) // teams
    least = np.inf
    for sides in itertools.product(range(teams), repeat=len(parties) - 1):
        players, totals = [0] * teams, [0.0] * teams
        for party, side in zip(parties, (0, *sides), strict=True):
            players[side] += len(party)
            totals[side] += sum(party)
        if set(players) == {room}:
            least = min(least, max(totals) - min(totals))
    return least


def test_duos_are_divided_as_evenly_as_possible():
    tickets = tickets_of((1900.0, 1100.0), (1800.0, 1800.0), (1700.0, 1100.0), (1600.0, 1600.0))
    (matched,) = match(tickets, 40.0, Policy(size=8, teams=2))
    assert sorted(sums(tickets, matched)) == [6200.0, 6400.0]


def test_teams_are_complete_unless_fewer_are_allowed():
    """Eleven players wait, three of them as a party. They play five against five, not four against four."""
    tickets = tickets_of(*[(1500.0 + 10.0 * k,) for k in range(8)], (1900.0, 1900.0, 1900.0))
    assert [len(each.players) for each in match(tickets, 1000.0, Policy(size=10, teams=2))] == [10]
    assert match(tickets[:8], 1000.0, Policy(size=10, teams=2)) == []
    assert len(match(tickets[:8], 1000.0, Policy(size=10, teams=2, least=8))) == 1


@pytest.mark.parametrize(("size", "teams"), [(4, 2), (6, 2), (6, 3), (8, 2), (8, 4), (9, 3), (10, 2), (10, 5)])
def test_small_matches_are_as_even_as_possible(size, teams):
    """Each match of random parties is compared with all divisions."""
    rng = np.random.default_rng(size * teams)
    tried = 0
    while tried < 20:
        shape = [int(rng.integers(1, size // teams + 1)) for _ in range(size)]
        cut = np.searchsorted(np.cumsum(shape), size)
        if sum(shape[: cut + 1]) != size or teams ** int(cut) > 50_000:
            continue
        parties = [tuple(rng.normal(1500.0, 300.0, count)) for count in shape[: cut + 1]]
        found = match(tickets_of(*parties), 40.0, Policy(size=size, teams=teams, least=teams))
        best = least_range(parties, teams)
        if best == np.inf:
            continue
        (matched,) = found
        totals = sums(tickets_of(*parties), matched)
        assert max(totals) - min(totals) == pytest.approx(best, abs=1e-6)
        tried += 1


def test_large_matches_with_parties_are_nearly_as_even_as_possible():
    """With eleven to fourteen parties in two sides of ten, nine in ten are optimal and none is 15 points worse."""
    rng = np.random.default_rng(8)
    misses = []
    while len(misses) < 60:
        shape = rng.choice([1, 1, 2, 2, 3, 4], 14)
        cut = np.searchsorted(np.cumsum(shape), 20)
        if not 11 <= cut + 1 <= 14 or shape[: cut + 1].sum() != 20:
            continue
        parties = [tuple(rng.normal(1500.0, 300.0, count)) for count in shape[: cut + 1]]
        tickets = tickets_of(*parties)
        (matched,) = match(tickets, 40.0, Policy(size=20, teams=2))
        totals = np.array([sum(party) for party in parties])
        sides = np.array(list(itertools.product((-1, 1), repeat=int(cut))))
        sides = np.hstack([np.ones((len(sides), 1), np.int64), sides])
        best = np.abs((sides @ totals)[sides @ shape[: cut + 1] == 0]).min()
        first, second = sums(tickets, matched)
        misses.append(abs(first - second) - best)
    assert min(misses) >= -1e-6
    assert max(misses) <= 15.0
    assert sum(miss < 1e-6 for miss in misses) >= 54


@pytest.mark.parametrize("name", names())
def test_the_scale_depends_on_the_system(name):
    """At the scale the odds are 10 to 1 in any unit: 400, 2000 or a few points."""
    system = find(name)()
    scale = odds_scale(system)
    wide = find(name)(scale=3.0 * system.scale) if hasattr(system, "scale") else None
    published = {"elo": 400.0, "glicko": 400.0, "xonstat": 400.0, "codeforces": 400.0, "stk": 2000.0}
    both = np.sqrt(2.0) * np.hypot(25.0 / 6.0, 25.0 / 300.0)  # deviation of a lead in an event
    published |= {"trueskill": both * scipy.stats.norm.ppf(10.0 / 11.0), "openskill-pl": both * np.log(10.0)}
    if name in published:
        assert scale == pytest.approx(published[name], rel=1e-5)
    if wide is not None:
        assert odds_scale(wide) == pytest.approx(3.0 * scale, rel=1e-9)
    sides = [[state] for state in established_pair(system, scale)]
    share = 10.0 / 11.0
    entropy = -(share * np.log(share) + (1.0 - share) * np.log(1.0 - share)) / np.log(2.0)
    assert match_quality(system, sides) == pytest.approx(entropy, rel=1e-3)


def established_pair(system, gap):
    """Return two players with hardly any deviation and this gap."""
    newcomer = system.newcomer()
    established = newcomer._replace(events=1000.0)
    for name in set(system.deviations) & set(newcomer._fields):
        established = established._replace(**{name: 1e-3 * newcomer.deviation})
    return tuple(
        established._replace(**{key: getattr(established, key) + lead for key in system.with_level})
        for lead in (0.5 * gap, -0.5 * gap)
    )


def test_the_quality_of_a_duel_follows_from_its_expected_score():
    """Sides of 99.6 % to 0.4 % have hardly any quality. It is the same from both sides, and mixed teams are even."""
    system = find("trueskill")()
    ana, cy = (system.newcomer()._replace(rating=rating, deviation=3.0) for rating in (38.8, 15.0))
    share = expect(system.params(), *(enter(system.params(), state, PRESENT) for state in (ana, cy)))
    assert share > 0.99
    entropy = -(share * np.log(share) + (1.0 - share) * np.log(1.0 - share)) / np.log(2.0)
    assert match_quality(system, [[ana], [cy]]) == pytest.approx(entropy, rel=1e-9)
    assert match_quality(system, [[cy], [ana]]) == pytest.approx(entropy, rel=1e-9)
    assert match_quality(system, [[ana, cy], [cy, ana]]) == pytest.approx(1.0)
    assert match_quality(system, [[ana], [ana], [ana]]) == pytest.approx(1.0)
    trueskill = find("trueskill")(tau=0.0)
    qualities = [
        match_quality(trueskill, [[trueskill.state_type(each, 1.0, 9.0)] * size for each in (27.0, 23.0)])
        for size in (1, 2, 4, 8)
    ]
    assert qualities == pytest.approx([0.82, 0.67, 0.45, 0.20], abs=0.006)
    assert 0.3 < match_quality(system, [[ana], [ana], [cy]]) < np.log(2.0) / np.log(3.0) + 0.01


def test_the_quality_of_uncertain_sides_is_symmetric():
    """The deviation of the better side counts as much as that of the other."""
    qualities = [
        match([Ticket("a", 1500.0, 0.0, one), Ticket("b", 1900.0, 0.0, two)], 40.0, Policy(size=2))[0].quality
        for one, two in ((350.0, 30.0), (30.0, 350.0))
    ]
    assert qualities[0] == pytest.approx(qualities[1], rel=1e-12)
    system = find("glicko")()
    states = [system.newcomer()._replace(rating=1500.0), system.newcomer()._replace(rating=1900.0, deviation=30.0)]
    assert qualities[0] == pytest.approx(match_quality(system, [[state] for state in states]), rel=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Policy(size=5, teams=2),
        lambda: Policy(size=1),
        lambda: Policy(teams=1),
        lambda: Policy(least=9),
        lambda: Policy(target_s=0.0),
        lambda: match([Ticket("a", 1.0, 0.0), Ticket("a", 2.0, 0.0)], 1.0),
        lambda: match([Ticket("a", float("nan"), 0.0)], 1.0),
        lambda: match([Ticket(name, 1.0, 0.0, party="x") for name in "abcde"], 1.0),
        lambda: match([Ticket(name, 1.0, 0.0, party="x", region=name) for name in "ab"], 1.0),
        lambda: Crowd(players=1),
        lambda: Crowd(rest_s=-1.0),
    ],
)
def test_invalid_policies_tickets_and_crowds_are_rejected(wrong):
    with pytest.raises(podium.ParameterError):
        wrong()


def test_a_crowd_of_5000_waits_at_most_40_seconds_for_even_matches():
    crowd = Crowd(5000, minutes=10.0)
    trial, yardstick = try_crowd(crowd, Policy()), try_crowd(crowd, Policy(), first_come=True)
    assert np.quantile(trial.waits, 0.95) <= 40.0
    assert np.median(trial.spreads) < 0.5 * np.median(yardstick.spreads)
    assert trial.qualities.mean() > 0.95
    again = try_crowd(crowd, Policy())
    assert again.waits.tobytes() == trial.waits.tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_of_50_never_waits_three_targets(seed):
    trial = try_crowd(Crowd(50, minutes=120.0, seed=seed), Policy())
    assert trial.longest <= 120.0
    assert trial.spreads.size > 100


def test_all_arrivals_are_matched_or_counted_as_unmatched():
    rng = np.random.default_rng(3)
    since = np.concatenate([rng.uniform(0.0, 600.0, 101), [1e9]])
    trial = try_arrivals(rng.normal(1500.0, 200.0, since.size), since, Policy())
    assert trial.waits.size + trial.unmatched == since.size
    assert trial.unmatched >= 1
    assert trial.longest >= 400.0


def test_the_command_compares_policies(tmp_path, capsys):
    chart = tmp_path / "lab.svg"
    options = ["--population", "20,60", "--target", "20,60", "--minutes", "5", "--format", "json"]
    build()(["lab", "matchmaking", *options, "--chart", str(chart)], standalone_mode=False)
    output = json.loads(capsys.readouterr().out)
    assert [(row["players"], row["kind"]) for row in output][:3] == [(20, "first come"), (20, "policy"), (20, "policy")]
    assert chart.read_text().startswith("<svg")
    table = tmp_path / "results.csv"
    podium.read_results(
        [
            {"event_id": f"e{n}", "player": f"p{k}", "position": place, "started_at": f"2025-01-01T00:{n:02}:00"}
            for n in range(30)
            for place, k in enumerate(np.random.default_rng(n).permutation(9)[:4], start=1)
        ]
    ).frame.write_csv(table)
    build()(["lab", "matchmaking", str(table), "-s", "elo", "--format", "csv"], standalone_mode=False)
    assert capsys.readouterr().out.count("\n") == 5
    for wrong in (["--target", "soon"], ["--population", "inf"], ["--system", "elo"], ["--size", "5", "--teams", "2"]):
        with pytest.raises(podium.ParameterError):
            build()(["lab", "matchmaking", *wrong], standalone_mode=False)


def test_undated_results_have_no_arrivals():
    rated = podium.rate([{"event_id": "e", "player": name, "position": k + 1} for k, name in enumerate("ab")], "elo")
    with pytest.raises(podium.ParameterError, match="started_at"):
        replayed_arrivals(rated.events, rated.replayed, [Policy()])


def test_the_table_compares_every_policy_with_first_come():
    comparison = compare_policies([Crowd(30, minutes=5.0)], [Policy(), Policy(target_s=80.0), Policy(size=2)])
    assert comparison["kind"].to_list() == ["first come", "policy", "policy", "first come", "policy"]
    assert comparison.select(pl.col("matched").min()).item() > 0
