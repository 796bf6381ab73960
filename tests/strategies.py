"""Histories for tests: small fields, ties, quits, heats, teams, partial play and several pools."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

PLAYERS = ["ana", "ben", "cleo", "dov", "eva", "雪"]
START = datetime(2025, 1, 1, tzinfo=UTC)


@st.composite
def events(draw, number, heats=1, quits=True):
    """Draw one event as rows that every system can rate: position by time, score, time and seconds played."""
    players = draw(st.lists(st.sampled_from(PLAYERS), min_size=2, max_size=5, unique=True))
    pool = draw(st.sampled_from(["one", "two"]))
    mode = draw(st.sampled_from(["time-trial", "normal", "duel"]))
    weight = draw(st.sampled_from([1.0, 1.0, 2.0, 0.5]))
    rows = []
    for heat in range(draw(st.integers(1, heats))):
        for player in players:
            finished = not quits or draw(st.integers(0, 5)) > 0
            row = {
                "event_id": f"e{number}",
                "started_at": (START + timedelta(hours=7 * number)).isoformat(),
                "pool": pool,
                "mode": mode,
                "weight": weight,
                "heat": str(heat + 1),
                "player": player,
                "status": "finished" if finished else "quit",
                "played_s": draw(st.sampled_from([130.0, 400.5, 600.0])),
                "duration_s": 600.0,
            }
            if finished:
                row["time_s"] = draw(st.sampled_from([60.0, 61.0, 61.5, 90.25, 400.0]))
                row["score"] = draw(st.integers(-3, 20))
            rows.append(row)
    return rows


@st.composite
def histories(draw, heats=1, quits=True, most=8):
    """Draw the rows of several events in order."""
    count = draw(st.integers(1, most))
    return [row for number in range(count) for row in draw(events(number, heats, quits))]
