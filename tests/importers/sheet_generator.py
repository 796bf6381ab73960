"""Generate random sheets as clubs write them, each with its truth.

    python tests/importers/sheet_generator.py --seed 1 --count 200 [--write DIR] [--show]

The script reads each sheet as `podium rate FILE` does. For each layout it prints how many were read correctly, rightly
rejected because they are ambiguous, wrongly rejected, and read incorrectly without a message. `--write` keeps the files
and their truths. `--show` adds one line per sheet.
"""

# ruff: noqa: E402  (it runs as a script, too)
import argparse
import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from sheet_author import Author, Truth
from sheet_games import crosstable, game_list, game_sheets, swiss, trf
from sheet_judging import judge, tally
from sheet_races import one_race, race_sheets, race_table, round_columns

LAYOUTS = {  # number of each among 20 sheets, and the kind of file it needs
    "race table": (race_table, 4, ""),
    "one race": (one_race, 1, ""),
    "column a round": (round_columns, 3, ""),
    "race a sheet": (race_sheets, 1, "book"),
    "round a sheet": (game_sheets, 1, "book"),
    "crosstable by name": (crosstable("name"), 1, ""),
    "crosstable by number": (crosstable("number"), 1, ""),
    "swiss list": (swiss, 2, ""),
    "trf": (trf, 1, "trf"),
    "winner, loser": (game_list("winner loser"), 1, ""),
    "white, black": (game_list("white black"), 2, ""),
    "home, guest": (game_list("home guest"), 1, ""),
    "doubles": (game_list("home guest", pairs=True), 1, ""),
}
DEALT = [name for name, (_, share, _) in LAYOUTS.items() for _ in range(share)]


@dataclass(frozen=True)
class Sheet:
    """A written sheet and its truth."""

    layout: str
    path: Path
    truth: Truth


def write_sheet(seed, number, folder):
    """Generate and write a sheet. The same seed and number give the same sheet."""
    layout = DEALT[number % len(DEALT)]
    build, _, only = LAYOUTS[layout]
    author = Author(random.Random(f"{seed}/{number}"), only)  # noqa: S311  (sheets, no secrets)
    sheets, truth = build(author)
    truth.ask = truth.ask or author.ask
    path = folder / f"{number:03d} {layout.replace(', ', '-')} {author.language}.{author.suffix}"
    author.saved(sheets, path)
    return Sheet(layout, path, truth)


def write_truth(sheet):
    """Write a sheet's truth into a file of the same folder."""
    whole = vars(sheet.truth) | {"events": [event._asdict() for event in sheet.truth.events]}
    text = json.dumps(whole, ensure_ascii=False, indent=1)
    sheet.path.with_name(f"{sheet.path.name}.truth.json").write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--write", type=Path, help="keep the files here, with their truths")
    parser.add_argument("--show", action="store_true", help="a line a sheet")
    options = parser.parse_args()
    judged = []
    with tempfile.TemporaryDirectory() as folder:
        kept = options.write or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for number in range(options.count):
            sheet = write_sheet(options.seed, number, kept)
            outcome, reason = judge(sheet.path, sheet.truth)
            judged.append((sheet.layout, outcome))
            if options.write:
                write_truth(sheet)
            if options.show:
                print(f"{sheet.path.name}: {outcome} {reason.splitlines()[0] if reason else ''}")  # noqa: T201
    print(tally(judged))  # noqa: T201


if __name__ == "__main__":
    main()
