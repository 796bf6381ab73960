"""Results that drive a system to its limits cause a notice that names a better system."""

import json

import numpy as np
import pytest

import podium
from podium.analysis.evaluation import evaluate
from podium.cli.commands import build
from podium.systems import find, names


def races(count, entrants):
    """Return races with random orders of finish."""
    chance = np.random.default_rng(7)
    rows = []
    for number in range(count):
        order = chance.permutation(entrants).tolist()
        event = {"event_id": str(number), "started_at": f"2025-01-{1 + number // 24:02}T{number % 24:02}:00:00Z"}
        rows += [{**event, "player": f"p{player}", "position": place} for place, player in enumerate(order, start=1)]
    return rows


LIMITED = ["glicko2", "trials", "openskill-tm", "openskill-tm-part"]
DRIVEN = {"glicko2": (120, 20)}  # enough events and entrants


@pytest.mark.parametrize("name", names())
def test_every_system_with_limits_names_a_better_system(name):
    system = find(name)
    assert bool(system.limits) == bool(system.instead) == (name in LIMITED)
    newcomers = np.tile(np.array(system().newcomer(), np.float64), (3, 1))
    assert system().at_limit(newcomers).tolist() == [False] * 3
    assert system().limit_notice(newcomers) is None
    assert system().limit_notice(newcomers[:0]) is None


@pytest.mark.parametrize("name", DRIVEN)
def test_fields_of_twenty_drive_players_to_a_limit(name):
    rated = podium.rate(races(*DRIVEN[name]), name)
    assert rated.notice.startswith(f"{name}: ")
    assert rated.notice.endswith(rated.system.instead)
    system = find(name)()
    assert evaluate(races(*DRIVEN[name]), [find("elo")(), system]).notices == (rated.notice,)


@pytest.mark.parametrize("name", ["glicko2", "openskill-tm", "elo", "trueskill"])
def test_duels_cause_no_notice(name):
    rows = races(60, 2)
    assert podium.rate(rows, name).notice is None
    assert evaluate(rows, [find(name)()]).notices == ()


@pytest.mark.parametrize("name", ["glicko2", "trials"])
def test_a_volatility_at_its_cap_is_a_limit(name):
    system = find(name)()
    states = np.tile(np.array(system.newcomer(), np.float64), (2, 1))
    states[1, system.state_type._fields.index("volatility")] = 10.0
    assert system.at_limit(states).tolist() == [False, True]
    assert "1 of 2 players" in system.limit_notice(states)


@pytest.mark.parametrize(("name", "lead"), [("openskill-tm", 8.2), ("openskill-tm-part", 16.4)])
def test_a_lead_beyond_the_cut_off_is_a_limit(name, lead):
    system = find(name)()
    established = 2.0
    c = np.sqrt(established**2 + system.deviation**2 + 2.0 * system.beta**2)
    leads = np.array([0.98 * lead, lead, -lead, 0.98 * -lead]) * c
    states = np.column_stack([system.initial + leads, np.full(4, established), np.ones(4)])
    assert system.at_limit(states).tolist() == [False, True, True, False]
    assert "2 of 4 players" in system.limit_notice(states)


def test_without_a_cap_there_is_no_limit():
    system = find("glicko2")(max_volatility=None)
    assert not system.at_limit(np.full((2, 4), 1e6)).any()


@pytest.mark.parametrize("command", [["rate", "--system", "glicko2"], ["evaluate", "-s", "glicko2", "-s", "elo"]])
def test_commands_print_the_notice_on_stderr(command, tmp_path, capsys):
    source = tmp_path / "races.json"
    source.write_text(json.dumps(races(120, 20)))
    build()([command[0], str(source), *command[1:], "--format", "json"], standalone_mode=False)
    printed = capsys.readouterr()
    assert json.loads(printed.out)
    assert "players are outside the range that the system can rate; rate fields of many with elo" in printed.err


def test_a_pool_has_the_notice(sqlite_store):
    sqlite_store.create_pool("karts", find("glicko2")(max_volatility=0.07))
    assert sqlite_store.pool_summary("karts").notice is None
    sqlite_store.submit("karts", races(80, 20))
    assert "of 20 players are outside the range" in sqlite_store.pool_summary("karts").notice
