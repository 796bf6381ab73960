"""Write the pages that the code itself knows: `make docs`. A test compares them with what stands in the folder.

A page of a system, the reference (commands, Python, HTTP), the results table, and which system for which game. The
picture of the README is drawn anew when what it shows has changed.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from inspect import getdoc
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

import podium
from podium.cli.commands import build
from podium.cli.demo import season_path
from podium.cli.terminal.show import explanation_text, what_if_text
from podium.engine.rules import is_by_pairs
from podium.engine.system import System, allowed
from podium.ledger.history import without_days
from podium.results.column_guide import COLUMNS, STATUSES, Column
from podium.systems import find, names
from podium.systems.xonstat_2015 import Xonstat2015

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
from limit_table import with_limits  # noqa: E402
from reference_pages import http_page, python_page  # noqa: E402

EXAMPLES = DOCS.parent / "examples"
PICTURE = DOCS / "histories.svg"
WIDTH = 78  # of help where there is room: 80 less a margin of two
WORKED_FILES = (  # of a results table: title, file, system, what it shows
    (
        "A race",
        "race.csv",
        "stk",
        (
            "Dev quits the first race and loses to all three, at the stake of a race of 500 seconds. Ben is"
            " disqualified from the second: he loses nothing, and it does not count among his events."
        ),
    ),
    (
        "One against one",
        "duels.csv",
        "elo",
        (
            "A row for each side of a match; the higher score wins, equal scores are a draw. The first two matches have"
            " one date and are rated in the order of the file."
        ),
    ),
    (
        "Teams",
        "teams.csv",
        "trueskill",
        "Team mates share their team's `team_score`. In the second game the teams have changed and draw.",
    ),
    (
        "Heats",
        "heats.csv",
        "trials",
        (
            "One event of three heats. Ana quits the second: she loses that heat to Ben and Cleo, and it scores 0 in"
            " her overall result, which `trials` derives from the sums 20, 24 and 22 and compares as one more set of"
            " games."
        ),
    ),
    (
        "Free for all, with partial play",
        "free_for_all.csv",
        "xonstat",
        (
            "Ben and Cleo draw. Dev left a game of 600 seconds after 150, and so has a quarter of his points"
            " at stake; the others have all of theirs."
        ),
    ),
)


EXPLAINED = {  # of the example season: system, pool, event, player, and whether to imagine it otherwise
    "heats": ("trials", "bikes", "bikes-058", "Dragana", " --what-if"),
    "duel": ("trueskill", "duel", "duel-060", "Ivo", ""),
    "contest": ("codeforces", "stunts", "stunts-060", "Amélie", ""),
}


def commands() -> list[tuple[str, ...]]:
    """Every command, groups before their own; the words of each."""

    def below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        for name, each in getattr(command, "commands", {}).items():
            yield from below(each, (*words, name))

    return list(below(typer.main.get_command(build()), ()))


def system_page(name: str) -> str:
    """What a system is, computes and takes."""
    system = find(name)
    newcomer = system().newcomer()._asdict()
    lines = [
        f"# {name}: {system.title}",
        "",
        getdoc(system) or "",
        "",
        f"Source: {system.source}.",
        "",
        "## Formulas",
        "",
    ]
    lines += [f"    {formula}" for formula in system.formulas]
    if system.limits:
        lines += ["", "## Limits", "", *(f"- {limit}" for limit in system.limits)]
        lines.append(f"- `rate`, `evaluate` and a pool's description say how many players are there; {system.instead}")
    lines += ["", (DOCS / "notation" / f"{name}.md.in").read_text(encoding="utf-8").rstrip()]
    lines += ["", "## Parameters", "", "| name | default | unit | what it may be |", "|---|---|---|---|"]
    for setting in fields(system):
        default = "none" if setting.default is None else setting.default
        lines.append(f"| `{setting.name}` | {default} | {setting.metadata['unit']} | {allowed(system, setting)} |")
    lines += ["", "## State", "", "A player is so many numbers; a newcomer's are:", ""]
    lines += [f"- `{field}` {value:g}" for field, value in newcomer.items()]
    lines += ["", "## What it needs and gives", ""]
    needs = ", ".join(f"`{column}`" for column in system.needs) or "a position, a score or a time"
    lines.append(f"- every finisher needs {needs}")
    lines.append(f"- a quit or dnf: {system.unfinished[0].lower()}{system.unfinished[1:].rstrip('.')}")
    lines.append(f"- by how much one wins: {system.margin[0].lower()}{system.margin[1:].rstrip('.')}")
    lines.append(f"- what one event counts: {system.stakes[0].lower()}{system.stakes[1:].rstrip('.')}")
    lines.append(f"- team mates {'share a result and are not compared' if system.teams else 'race for themselves'}")
    lines.append(
        "- the chance of a side against another, in `evaluate`, `tune` and `predict`: "
        + (
            "the mean over all pairs of opponents"
            if system.as_one is System.as_one
            else "the model's own, from the sums of means and variances"
        )
    )
    if judges_whole_field(system()):
        lines.append(
            "- it judges a whole field at once: an explanation gives each opponent or heat its fair share of the"
            " change, what it moved on average over all orders in which they could have joined"
            " ([more](../explanations.md#what-a-part-means))"
        )
    idle = {each.name: type(each.default)(1) for each in fields(system) if each.name in ("idle_growth", "drift")}
    timed = system(**idle)  # as it is where idle time counts
    if without_days(timed):
        lines.append(f"- where events have no dates {without_days(timed)}")
    lines.append(f"- {'may' if system.takes_periods else 'may not'} settle at the end of a rating period")
    is_mean = getattr(system(), "pairs", "") == "mean"
    where = " where all of a heat have as many opponents: teams of one size, and one quit at most" * is_mean
    lines.append(f"- the points exchanged {'sum' if system.conserves else 'need not sum'} to zero{where}")
    if system.ties_in_file_order:
        lines.append("- those who tie are linked to their neighbours in the order of the file")
    if system.min_events:
        lines.append(f"- it takes {system.min_events} events to stand on the leaderboard as settled")
    if system.settled_deviation is not None:
        lines.append(f"- a rating is provisional while its deviation is above {system.settled_deviation:g}")
    return "\n".join(lines) + "\n"


def command_page() -> str:
    """The help of every command, as a terminal of 80 columns or more shows it."""
    terminal = CliRunner(env={"NO_COLOR": "1"})
    parts = ["# Commands\n"]
    for words in commands():
        command = build(*words[:1])  # to build all for the help of one takes long
        text = terminal.invoke(command, [*words, "--help"], prog_name="podium", terminal_width=WIDTH).stdout
        body = "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())
        parts.append(f"## podium {' '.join(words)}".rstrip() + f"\n\n{body}\n")
    return "\n".join(parts)


def results_page() -> str:
    """The results table: `results.md.in` with the facts that the code knows."""
    every = [find(name) for name in names()]
    worked = [line for each in WORKED_FILES for line in worked_file(*each)]
    facts = {
        "columns": [column_row(column) for column in COLUMNS],
        "statuses": [f"| `{each.name}` | {each.meaning} | {each.cost} |" for each in STATUSES],
        "systems": [cost_row(system) for system in every],
        "worked": worked,
        "in_file_order": [in_a_sentence(each.name for each in every if each.ties_in_file_order or each is Xonstat2015)],
    }
    text = (DOCS / "results.md.in").read_text(encoding="utf-8")
    for name, lines in facts.items():
        text = text.replace(f"{{{{ {name} }}}}", "\n".join(lines))
    return text.rstrip() + "\n"


def column_row(column: Column) -> str:
    """A column's row."""
    example = f"`{column.example}`"
    return f"| `{column.name}` | {column.type} | {column.unit} | {column.default} | {column.meaning} | {example} |"


def cost_row(system: type[System]) -> str:
    """A system's row: what a quit costs, and what it needs."""
    name = system.name
    nobody = "is not rated" if system.needs_finisher else "counts as an event; nobody is compared"
    needs = ", ".join(f"`{column}`" for column in system.needs)
    teams = "share a result" if system.teams else "play alone"
    return f"| [`{name}`](systems/{name}.md) | {system.unfinished} | {nobody} | {needs} | {teams} |"


def worked_file(title: str, file: str, system: str, shows: str) -> list[str]:
    """A file, the command that rates it, and the ratings."""
    path = EXAMPLES / file
    ratings = podium.rate(path, system).ratings
    return [
        f"### {title}",
        "",
        shows,
        "",
        "```text",
        path.read_text(encoding="utf-8").rstrip(),
        "```",
        "",
        f"    podium rate examples/{file} --system {system}",
        "",
        "| player | rating | events |",
        "|---|---|---|",
        *(f"| {row['player']} | {row['rating']:,.2f} | {row['events']} |" for row in ratings.to_dicts()),
        "",
    ]


def choice_page() -> str:
    """Which system for which game: `which-system.md.in` with the best of each history in `comparison.md`."""
    histories = (DOCS / "comparison.md").read_text(encoding="utf-8").split("\n## ")[1:]
    text = (DOCS / "which-system.md.in").read_text(encoding="utf-8")
    return text.replace("{{ best }}", "\n".join(best_row(each) for each in histories))


def best_row(history: str) -> str:
    """A history's row: its title, the best system, and its log loss and Elo's. The best stands first."""
    defaults = history.split("\n### ", maxsplit=1)[0]
    losses = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", defaults, re.MULTILINE))
    best = next(iter(losses))
    return f"| {history.splitlines()[0]} | [`{best}`](systems/{best}.md) | {losses[best]} | {losses['elo']} |"


def explanations_page() -> str:
    """What an explanation says: `explanations.md.in` with explanations of the example season."""
    season = podium.read_results(season_path())
    facts = {name: explained(season, *each) for name, each in EXPLAINED.items()}
    facts["whole"] = in_a_sentence(name for name in names() if judges_whole_field(find(name)()))
    text = (DOCS / "explanations.md.in").read_text(encoding="utf-8")
    for name, fact in facts.items():
        text = text.replace(f"{{{{ {name} }}}}", fact)
    return text


def explained(season: podium.Results, system: str, pool: str, event_id: str, player: str, what_if: str) -> str:
    """The command that explains a change of the example season, and what it prints."""
    rated = podium.rate(podium.Results(season.frame.filter(season.frame["pool"] == pool), season.source), system)
    text = explanation_text(rated.explain(event_id, player))
    if what_if:
        text += f"\n\n{what_if_text(rated.what_if(event_id, player))}"
    command = f"podium explain examples/season.csv --system {system} --event {event_id} --player {player}{what_if}"
    return "\n".join(f"    {line}".rstrip() for line in (command, "", *text.splitlines()))


def judges_whole_field(system: System) -> bool:
    """Whether a system is no sum over pairs."""
    return not is_by_pairs(system)


def in_a_sentence(words: Iterable[str]) -> str:
    """Names in a sentence: a, b and c."""
    *first, last = (f"`{word}`" for word in words)
    return f"{', '.join(first)} and {last}" if first else last


def pages() -> dict[Path, str]:
    """Every page by its path."""
    page_of = {DOCS / "systems" / f"{name}.md": system_page(name) for name in names()}
    page_of[DOCS / "reference" / "commands.md"] = command_page()
    page_of[DOCS / "reference" / "python.md"] = python_page()
    page_of[DOCS / "reference" / "http.md"] = http_page()
    page_of[DOCS / "results.md"] = results_page()
    page_of[DOCS / "which-system.md"] = choice_page()
    page_of[DOCS / "explanations.md"] = explanations_page()
    page_of[DOCS / "service.md"] = with_limits((DOCS / "service.md").read_text(encoding="utf-8"))
    return page_of


def histories() -> Any:
    """The leaders of the example season under folyami, as a chart."""
    from podium.reporting.histories import rating_histories

    rated = podium.rate(season_path(), "folyami")
    history = rated.history.filter(rated.history["pool"] == "stunts")
    leaders = rated.leaderboard(pool="stunts", top=6)["player"].to_list()
    return rating_histories(history, leaders, "The example season, rated with folyami")


def draw(chart: Any, path: Path) -> None:
    """Draw a chart as SVG, unless the file has the same chart already.

    Fonts differ between machines, and so would the bytes of the same picture: the file ends with a digest of what it
    shows.
    """
    from podium.reporting.plotting import save

    digest = hashlib.sha256(json.dumps(chart.to_dict(), sort_keys=True).encode()).hexdigest()
    mark = f"<!-- {digest} -->\n"
    if path.exists() and path.read_text(encoding="utf-8").endswith(mark):
        return
    save(chart, path)
    with path.open("a", encoding="utf-8") as file:
        file.write(mark)


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    draw(histories(), PICTURE)
