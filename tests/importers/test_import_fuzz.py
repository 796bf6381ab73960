"""Damaged files are imported completely or rejected with a message, without tracebacks or incomplete events."""

import json
import random
from dataclasses import replace

import pytest
from extent import times
from importing import SUFFIXES, WHOLE, games, match, race, startgg, startgg_set, stk_dump, stk_row, tournament

import podium
from podium.errors import FormatError
from podium.importers import Imported, Options, read_format

MUTATED = times(30, 10_000)  # inputs per format
JUNK: tuple[bytes, ...] = (
    b"",
    b"\0",
    b"\xff",
    b"\xf0\x9f\x8f\x81",
    b"-1",
    b"1e999",
    b"nan",
    b"null",
    b"true",
    b'"',
    b"{}",
    b"[]",
    b",",
)
JUNK += (
    b"\n",
    b"\r\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\\",
    b"\\ud800",
    b"99999999999999999999",
    b" ",
    b"'",
    b";",
    b"e x 1\n",
)
TWO = WHOLE | {  # two events per format
    "xonstat": "".join(
        f"----- BEGIN REQUEST BODY -----\n{WHOLE['xonstat'].replace('000042', f'00004{number}')}"
        "----- END REQUEST BODY -----\n"
        for number in (2, 3)
    ),
    "stk": stk_dump(*(stk_row(name, venue=venue) for venue in ("a", "b") for name in ("ana", "ben"))),
    "pgn": games(("a", "1-0"), ("b", "1/2-1/2")),
    "racetime": [race(), race(name="oot/2")],
    "startgg": startgg(startgg_set(1), startgg_set(2)),
    "challonge": tournament(match(), match(id=10)),
}


def mutated(content, rng):
    """Delete, repeat, exchange or insert a few bytes."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice((0, 1, 1, 2, 8, 40)))
        other = rng.randrange(len(content) + 1)
        moved = content[other : other + end - start]
        piece = rng.choice((rng.choice(JUNK), content[start:end] * 2, moved, bytes([rng.randrange(256)])))
        content = content[:start] + piece + content[end:]
    return content


def is_whole(frame):
    """Return True if a table is accepted and every event has at least two entrants."""
    if frame.height:
        assert podium.read_results(frame).frame.height == frame.height
        assert frame["event_id"].value_counts()["count"].min() >= 2


@pytest.mark.parametrize("name", TWO)
def test_a_damaged_input_is_imported_completely_or_rejected(name, tmp_path):
    rng = random.Random(name)  # noqa: S311  (the same inputs in every run)
    content = TWO[name]
    files = content if name in ("f1db", "ergast") else {f"input.{SUFFIXES.get(name, 'txt')}": content}
    whole = {file: (text if isinstance(text, str) else json.dumps(text)).encode() for file, text in files.items()}
    for file, text in whole.items():
        (tmp_path / file).write_bytes(text)
    path = tmp_path if len(whole) > 1 else tmp_path / next(iter(whole))
    assert read_format(name, [path]).table["event_id"].n_unique() == 2
    for _ in range(MUTATED):
        file = rng.choice(list(whole))
        changed = mutated(whole[file], rng)
        (tmp_path / file).write_bytes(changed)
        options = Options(timezone=rng.choice(("UTC", "Europe/Berlin")), player=rng.choice(("id", "name")))
        outcomes: list[Imported | None] = []
        messages = []
        for skip_bad in (False, True):
            try:
                outcomes.append(read_format(name, [path], replace(options, skip_bad=skip_bad)))
            except FormatError as error:
                outcomes.append(None)
                messages.append(str(error))
        strict, lenient = outcomes
        assert all(str(tmp_path) in message for message in messages), changed
        assert strict is None or (lenient is not None and strict.table.equals(lenient.table)), changed
        if lenient is not None:
            assert (strict is None) == bool(lenient.bad), changed
            is_whole(lenient.table)
        (tmp_path / file).write_bytes(whole[file])
