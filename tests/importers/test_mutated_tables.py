"""Randomly damaged tables give results or a clear error, without tracebacks or incomplete events."""

import random

import pytest
from extent import times
from workbooks import write_ods, write_xlsx

import podium
from podium.importers import Options, read_format

PIECES = [
    *(
        b",",
        b";",
        b"\n",
        b"\r",
        b'"',
        b"\0",
        b"\xff",
        b"+",
        b":",
        b"1e999",
        b"nan",
        b"DNF",
        b"\t",
        b"9" * 40,
        b"{",
        b"[",
    ),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xae", b"2024-02-30"),
]
NAMED = {"event_id": "Race", "player": "Driver"}
GERMAN = """Race;Driver;Pos;Zeit;Datum
1;Ä;1.;1:33:56,736;24.3.2024
1;B;T2;1:34:11,9;24.3.2024
1;C;DNF;;24.3.2024
"""
GAPS = "Race,Driver,Pos,T\n1,A,1,61.5\n1,B,2,+1.5\n2,A,2,+0.5\n2,B,1,1:00\n"
SIDES = [{"player": "w", "position": 1}, {"player": "l", "position": 2}]
NESTED = '{"races": [{"id": 1, "rows": [{"u": "a", "k": 1.5}, {"u": "b", "k": 2}]}]}'
TABLES = {
    "guess.csv": (GERMAN, None),
    "gaps.csv": (GAPS, {"columns": {**NAMED, "position": "Pos", "time_s": {"from": "T", "gap": "leader"}}}),
    "wide.csv": (
        "w,l,d\na,b,20230102\nc,d,2023-01-03\n",
        {"layout": {"kind": "wide", "sides": SIDES}, "columns": {"event_id": "{d}-{row}", "started_at": "d"}},
    ),
    "cross.csv": (
        "P,A,B,C\nA,,1,0.5\nB,0,,1\nC,0.5,0,\n",
        {
            "layout": {"kind": "crosstable", "rows": "P"},
            "columns": {"event_id": "{row_name}{column}", "score": "cell"},
        },
    ),
    "nested.json": (
        NESTED,
        {"source": {"records": "races[].rows[]"}, "columns": {"event_id": "^id", "player": "u", "score": "k"}},
    ),
    "book.xlsx": (None, None),
    "book.ods": (None, None),
}


def damaged(content, rng):
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        place, kind = rng.randrange(len(content) + 1), rng.random()
        if kind < 0.4:
            content = content[:place] + rng.choice(PIECES) + content[place:]
        elif kind < 0.6:
            content = content[:place] + content[place + rng.randrange(1, 6) :]
        elif kind < 0.8:
            content = content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
        else:
            lines = content.split(b"\n")
            rng.shuffle(lines)
            content = b"\n".join(lines)
    return content


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_table_is_read_or_rejected(name, tmp_path):
    path, (text, document) = tmp_path / name, TABLES[name]
    if text is None:
        writer = write_ods if name.endswith("ods") else lambda path, rows: write_xlsx(path, Sheet=rows)
        writer(path, [["Race", "Driver", "Pos"], [1, "a", 1], [1, "b", 2]])
    whole = path.read_bytes() if text is None else text.encode()
    rng = random.Random(name)  # noqa: S311  (no secret)
    refused = 0
    for _ in range(times(40, 10_000)):
        path.write_bytes(damaged(whole, rng))
        try:
            if document is None:
                podium.read_results(path, lenient=True)
            else:
                imported = read_format("csv", [path], Options(map=document, skip_bad=True))
                podium.read_results(imported.table)
                sizes = imported.table.group_by("event_id").len()["len"]
                assert sizes.is_empty() or sizes.min() > 1
        except podium.PodiumError:
            refused += 1
    assert refused
