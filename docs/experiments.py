"""Write docs/recovery.md and docs/matchmaking.md from the commands that they show: `make experiments`."""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from podium.systems import find, names

DOCS = Path(__file__).parent
PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]
SYSTEMS = [name for name in names() if not find(name).better_in_fields]  # eight race at a time
SEASON = "podium simulate -o season.parquet --skills skills.parquet --set events=5000 --set jumps=0.2 --seed 7"
RECOVER = "podium recover season.parquet --skills skills.parquet " + " ".join(f"--system {name}" for name in SYSTEMS)
LAB = "podium lab matchmaking --population 50,200,1000,5000 --target 20,40,80"
RECOVERY = """# How soon each system finds the truth

A season of 5,000 races of eight among 200 players whose skills are known: some arrive late, some leave, all drift,
and the skill of one in five leaps by 300 points at once. Each system has its defaults; its ratings are laid over the
skills by the straight line that fits best.

    {season}
    {recover}

{table}

`events_to_50` is the median of a player's events until the rating is first within 50 points of the skill, empty where
most never are, and `found` the share of players who get there; `rmse` and `rank_correlation` are over the events after
a player's tenth; `lag` is the median of events until a rating has followed half of a leap; `inflation` is by how much
ratings rise over the season beside the skills.

Soonest within 50 points: {soonest}. Nearest over all: {nearest}. Quickest to follow a leap: {quickest}. Performances
are the gamma model's, which is Folyami's own.
"""
MATCHMAKING = """# What a longer wait buys

Populations in steady state, matches of four that take four minutes, a minute's rest on average. First come, first
served is the yardstick; the policy matches a ticket within a spread that widens as it waits. Waits are in seconds,
spreads in rating points; a quality of 1 is a match that all are as likely to win.

    {lab}

{table}

Sides have equal numbers, and parties stay together. Matches of up to ten parties and players alone are searched whole
for the sides whose sums of ratings are nearest; in larger ones two of a size are exchanged, or a party, alone or with
another of its side, for whoever are as many, as long as that brings the sums nearer.

The quality is the entropy of who wins over its largest. It needs the gap in rating at which the odds are 10 to 1:
`scale`, 400 unless given. The service takes its pool's own (2000 with `stk`, about 8 with `trueskill`), and a pairing's
quality from the same expected scores as its predictions; `podium lab matchmaking FILE --system S` takes the system's.
In the library:

    Policy(size=8, teams=2, scale=odds_scale(system))   # podium.matchmaking.matcher, podium.matchmaking.pairing
"""


def output_of(command: str, folder: Path) -> str:
    """What a command prints as CSV or text."""
    words = shlex.split(command.removeprefix("podium "))
    return subprocess.run([*PODIUM, *words], check=True, capture_output=True, text=True, cwd=folder).stdout


def as_markdown(table: pl.DataFrame) -> list[str]:
    """A table in Markdown, floats to two places."""
    rows = ["| " + " | ".join(table.columns) + " |", "|---" * table.width + "|"]
    for row in table.iter_rows():
        cells = [f"{value:.2f}" if isinstance(value, float) else "" if value is None else str(value) for value in row]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def recovery(folder: Path) -> str:
    """The page about how soon systems find skills."""
    output_of(SEASON, folder)
    table = pl.read_csv(output_of(RECOVER + " --format csv", folder).encode())
    first = {
        word: ", ".join(table.drop_nulls(order).sort(order)["system"].head(3))
        for word, order in (("soonest", ["events_to_50", "rmse"]), ("nearest", ["rmse"]), ("quickest", ["lag"]))
    }
    return RECOVERY.format(season=SEASON, recover=RECOVER, table="\n".join(as_markdown(table)), **first)


def matchmaking(folder: Path) -> str:
    """The page about waits and spreads."""
    table = pl.read_csv(output_of(LAB + " --format csv", folder).encode())
    return MATCHMAKING.format(lab=LAB, table="\n".join(as_markdown(table)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for name, page in (("recovery.md", recovery), ("matchmaking.md", matchmaking)):
            (DOCS / name).write_text(page(Path(place)), encoding="utf-8")
