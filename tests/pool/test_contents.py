"""Contents give the same tables as reading the log's lines."""

import json
from unittest import mock

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from podium.pool import contents as module
from podium.pool.contents import Contents
from podium.results.columns import FILLED, TYPES, UTC, in_order

OPTIONAL = {
    "heat": st.sampled_from(["1", "2", "overall"]), "team": st.sampled_from(["red", "blue"]),
    "position": st.integers(1, 9).map(float), "time_s": st.floats(0.001, 1e6), "ranked": st.booleans(),
    "weight": st.sampled_from([0.5, 1.0, 2.0]), "handicap": st.sampled_from([True, False, 2.5]),
    "awards": st.sampled_from(["pole", "pole,lap"]),
    "shared:car": st.integers(2**40 + 1, 2**40 + 3),
}  # fmt: skip
ROW = st.fixed_dictionaries(
    {"status": st.sampled_from(["finished", "quit", "did_not_start"]), "player": st.integers(1, 9)}, optional=OPTIONAL
)


def body(number, rows):
    lines = [json.dumps({"event_id": f"e{number}", "started_at": "2025-01-01T00:00:00+00:00"} | row) for row in rows]
    return "".join(line.replace(", ", ",").replace(": ", ":") + "\n" for line in lines).encode()


@given(st.lists(st.lists(ROW, min_size=1, max_size=4), min_size=1, max_size=9), st.data())
def test_a_table_matches_the_lines(events, data):
    bodies = [body(number, rows) for number, rows in enumerate(events)]
    with mock.patch.object(module, "MAX_OPEN", 3):
        contents = Contents()
        while contents.size < len(bodies):
            stop = contents.size + data.draw(st.integers(1, 4))
            contents = contents.appended(bodies[contents.size : stop])
            if data.draw(st.booleans()):
                contents.numbers()  # later reads use the same parsed rows
    chosen = data.draw(st.lists(st.sampled_from(range(len(bodies))), min_size=1, unique=True))
    starts, seqs = [1_000_000 * each for each in chosen], [each + 10 for each in chosen]
    rows = [(number, row) for number in chosen for row in events[number]]
    columns = {"event_id": pl.Series([f"e{number}" for number, _ in rows])}
    columns["started_at"] = pl.Series([1_000_000 * number for number, _ in rows]).cast(UTC)
    columns["player"] = pl.Series([str(row["player"]) for _, row in rows])
    for name in {name for _, row in rows for name in row} - {"player"}:
        values = [row.get(name, FILLED.get(name)) for _, row in rows]
        texts = name.startswith("shared:") and [None if value is None else str(value) for value in values]
        columns[name] = pl.Series(texts or values, dtype=pl.String if texts else TYPES[name])
    expected = pl.DataFrame({name: columns[name] for name in in_order(columns)})
    expected = expected.with_columns(seq=pl.Series([number + 10 for number, _ in rows]))
    table = contents.table(
        np.array(chosen), event_id=[f"e{each}" for each in chosen], started_at=np.array(starts), seq=np.array(seqs)
    )
    assert table.columns == expected.columns
    assert table.schema == expected.schema
    assert table.equals(expected)


def test_an_empty_selection_has_no_rows():
    contents = Contents().appended([body(0, [{"status": "finished", "player": 1}])])
    assert contents.table(np.empty(0, np.int64), event_id=[], started_at=[], seq=[]).height == 0


def test_texts_are_stored_once():
    rows = [{"status": "finished", "player": player, "heat": "semi-final"} for player in range(1, 101)]
    part, _ = module.parsed(0, [body(0, rows)])
    assert part.frame.schema["heat"] == pl.Categorical
    assert part.frame.schema["player"] == pl.Int32
