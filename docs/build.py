"""Write the pages with facts from the code: `make docs`. A test compares them with the files in the folder.

A page named NAME.md.in is a text with placeholders. The pages of commands and of the HTTP API have no such text.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from unittest import mock

import podium
from podium.cli.demo import season_path
from podium.cli.terminal.show import explanation_text, what_if_text
from podium.engine.rules import is_by_pairs
from podium.engine.system import System, allowed
from podium.results.column_guide import COLUMNS, STATUSES, Column
from podium.support.words import column_texts
from podium.systems import find, names
from podium.systems.xonstat_2015 import Xonstat2015

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
from limit_table import with_limits  # noqa: E402
from measurements import best_rows, comparison_page, matchmaking_page, recovery_page  # noqa: E402
from reference_pages import command_page, http_page, python_page  # noqa: E402

EXAMPLES = DOCS.parent / "examples"
TABLES = re.compile(r"\{\{ tables ([\w -]+) \}\}")  # in a page of systems: the place of their tables
WORKED_FILES = (  # of the examples: title, file, system, note
    (
        "A race",
        "race.csv",
        "stk",
        (
            "Dev quits the first race and loses to all three. Ben is disqualified from the second: he loses nothing,"
            " and the race is not one of his events."
        ),
    ),
    (
        "One against one",
        "duels.csv",
        "elo",
        (
            "One row per side. The higher score wins; equal scores are a draw. The first two matches have the same"
            " date, so the order of the file decides."
        ),
    ),
    (
        "Teams of two",
        "teams.csv",
        "trueskill",
        "Team mates share their `team_score`. In the second game the partners have changed and the teams draw.",
    ),
    (
        "Heats",
        "heats.csv",
        "trials",
        (
            "One event with three heats. Ana quits the second and loses it to Ben and Cleo. `trials` also compares"
            " the sums 20, 24 and 22."
        ),
    ),
    (
        "Free for all, with partial play",
        "free_for_all.csv",
        "xonstat",
        "Ben and Cleo draw. Dev left a game of 600 seconds after 150, so a quarter of his usual points are at stake.",
    ),
)

EXPLAINED = {  # in the example season: system, pool, event, player, further options
    "heats": ("trials", "bikes", "bikes-058", "Dragana", " --what-if"),
    "contest": ("codeforces", "stunts", "stunts-060", "Amélie", ""),
}


def system_pages() -> dict[str, tuple[str, ...]]:
    """Return the systems on each page, by the page's name: systems of one family share a page."""
    found = {}
    for path in sorted((DOCS / "systems").glob("*.md.in")):
        if tables := TABLES.search(path.read_text(encoding="utf-8")):
            found[path.name.removesuffix(".md.in")] = tuple(tables[1].split())
    return found


def system_page(page: str) -> str:
    """Return a page of systems: its text, with tables from the code."""
    text = (DOCS / "systems" / f"{page}.md.in").read_text(encoding="utf-8")
    return TABLES.sub(lambda found: "\n".join(system_tables([find(name) for name in found[1].split()])), text)


def system_tables(systems: list[type[System]]) -> Iterator[str]:
    """Yield the parameters, the state and the rules of systems that share a page."""
    yield from ("## Parameters", "", "| name | default | values | meaning |", "|---|---|---|---|")
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for system in systems:
        for setting in fields(system):
            default = "none" if setting.default is None else f"{setting.default}"[:8]
            values, _, meaning = allowed(system, setting).partition(" (")
            row = (setting.name, default, values.removeprefix("a number from "), meaning.removesuffix(")"))
            rows.setdefault(row, []).append(system.name)
    for (name, default, values, meaning), owners in rows.items():
        only = "" if len(owners) == len(systems) else f" ({', '.join(owners)})"
        yield f"| `{name}`{only} | {default} | {values} | {meaning} |"
    yield from ("", "## Facts", "", "| | |", "|---|---|")
    yield from grouped_facts(systems)
    yield "| a quit | [its cost](../results.md#what-a-quit-costs-in-each-system) |"
    yield f"| source | {'; '.join(dict.fromkeys(system.source.rstrip('.') for system in systems))} |"


def grouped_facts(systems: list[type[System]]) -> Iterator[str]:
    """Yield a newcomer's state and the effect of margins and weights, with the systems' names if they differ."""
    facts: dict[str, Callable[[type[System]], str]] = {
        "a newcomer's state": state_of_newcomer,
        "does the margin count?": lambda system: system.winning_margin,
        "weight of an event": lambda system: system.stakes,
    }
    for title, fact_of in facts.items():
        owners: dict[str, list[str]] = {}
        for system in systems:
            owners.setdefault(fact_of(system), []).append(f"`{system.name}`")
        for text, names_of in owners.items():
            only = f" ({', '.join(names_of)})" if len(owners) > 1 else ""
            yield f"| {title}{only} | {text} |"


def state_of_newcomer(system: type[System]) -> str:
    """Return the numbers that Podium stores for a player, as a newcomer has them."""
    return ", ".join(f"`{field}` {value:g}" for field, value in system().newcomer()._asdict().items())


def systems_index_page() -> str:
    """Return the overview of all systems: `systems/index.md.in` with a row for each."""
    rows = [overview_row(find(name), page) for page, members in system_pages().items() for name in members]
    text = (DOCS / "systems" / "index.md.in").read_text(encoding="utf-8")
    return text.replace("{{ overview }}", "\n".join(sorted(rows)))


def overview_row(system: type[System], page: str) -> str:
    """Return a system's row of the overview."""
    whole = judges_whole_field(system())
    cells = (
        f"[`{system.name}`]({page}.md)",
        system.title,
        "yes" if system.teams else "no",
        "yes" if system.takes_periods else "no",
        "yes" if system.conserves else "no",
        "yes" if whole else "no",
        until_established(system),
    )
    return f"| {' | '.join(cells)} |"


def until_established(system: type[System]) -> str:
    """Return when a rating of a system is no longer provisional by the system's own rule."""
    if system.min_events:
        return f"{system.min_events} events"
    if system.established_deviation is not None:
        return f"deviation of {system.established_deviation:g}"
    return "5 events"


def results_page() -> str:
    """Return the page about results: `results.md.in` with facts from the code."""
    every = [find(name) for name in names()]
    worked = [line for each in WORKED_FILES for line in worked_file(*each)]
    facts = {
        "columns": [column_row(column) for column in COLUMNS],
        "statuses": [f"| `{each.name}` | {each.meaning} | {each.cost} |" for each in STATUSES],
        "systems": cost_rows(every),
        "worked": worked,
        "in_file_order": [in_a_sentence(each.name for each in every if each.ties_in_file_order or each is Xonstat2015)],
    }
    text = (DOCS / "results.md.in").read_text(encoding="utf-8")
    for name, lines in facts.items():
        text = text.replace(f"{{{{ {name} }}}}", "\n".join(lines))
    return text.rstrip() + "\n"


def column_row(column: Column) -> str:
    """Return a column's row."""
    example = f"`{column.example}`"
    return f"| `{column.name}` | {column.type} | {column.unit} | {column.default} | {column.meaning} | {example} |"


def cost_rows(systems: Iterable[type[System]]) -> list[str]:
    """Return what a quit costs and what finishers need, one row for all systems with the same rules."""
    owners: dict[tuple[str, ...], list[str]] = {}
    page_of = {name: page for page, members in system_pages().items() for name in members}
    for system in systems:
        nobody = "not rated" if system.needs_finisher else "counts as an event"
        needs = ", ".join(f"`{column}`" for column in system.needs)
        row = (system.unfinished, nobody, needs, "share a result" if system.teams else "play alone")
        owners.setdefault(row, []).append(f"[`{system.name}`](systems/{page_of[system.name]}.md)")
    return [f"| {', '.join(names_of)} | {' | '.join(row)} |" for row, names_of in owners.items()]


def worked_file(title: str, file: str, system: str, shows: str) -> list[str]:
    """Return a file, the command that rates it, and the ratings."""
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
        *map("| {} | {} | {} |".format, ratings["player"], column_texts(ratings["rating"]), ratings["events"]),
        "",
    ]


def choice_page() -> str:
    """Return which system suits which game: `which-system.md.in` with the best system of each history."""
    text = (DOCS / "which-system.md.in").read_text(encoding="utf-8")
    return text.replace("{{ best }}", "\n".join(best_rows()))


def explanations_page() -> str:
    """Return the page about explanations: `explanations.md.in` with examples from the example season."""
    season = podium.read_results(season_path())
    facts = {name: explained(season, *each) for name, each in EXPLAINED.items()}
    facts["whole"] = in_a_sentence(name for name in names() if judges_whole_field(find(name)()))
    text = (DOCS / "explanations.md.in").read_text(encoding="utf-8")
    for name, fact in facts.items():
        text = text.replace(f"{{{{ {name} }}}}", fact)
    return text


def explained(season: podium.Results, system: str, pool: str, event_id: str, player: str, what_if: str) -> str:
    """Return the command that explains a change of the example season, and its output."""
    rated = podium.rate(podium.Results(season.frame.filter(season.frame["pool"] == pool), season.source), system)
    with mock.patch.dict(os.environ):
        os.environ.pop("COLUMNS", None)  # pages have sentences in one line
        text = explanation_text(rated.explain(event_id, player))
        if what_if:
            text += f"\n\n{what_if_text(rated.what_if(event_id, player))}"
    command = f"podium explain examples/season.csv --system {system} --event {event_id} --player {player}{what_if}"
    return "\n".join(f"    {line}".rstrip() for line in (command, "", *text.splitlines()))


def judges_whole_field(system: System) -> bool:
    """Return True if a change is not a sum over opponents."""
    return not is_by_pairs(system)


def in_a_sentence(words: Iterable[str]) -> str:
    """Return names as a, b and c."""
    *first, last = (f"`{word}`" for word in words)
    return f"{', '.join(first)} and {last}" if first else last


def pages() -> dict[Path, str]:
    """Return every page by its path."""
    page_of = {DOCS / "systems" / f"{page}.md": system_page(page) for page in system_pages()}
    page_of[DOCS / "systems" / "index.md"] = systems_index_page()
    page_of[DOCS / "reference" / "commands.md"] = command_page()
    page_of[DOCS / "reference" / "python.md"] = python_page()
    page_of[DOCS / "reference" / "http.md"] = http_page()
    page_of[DOCS / "results.md"] = results_page()
    page_of[DOCS / "which-system.md"] = choice_page()
    page_of[DOCS / "comparison.md"] = comparison_page()
    page_of[DOCS / "recovery.md"] = recovery_page()
    page_of[DOCS / "matchmaking.md"] = matchmaking_page()
    page_of[DOCS / "explanations.md"] = explanations_page()
    limits = DOCS / "service" / "limits.md"
    page_of[limits] = with_limits(limits.read_text(encoding="utf-8"))
    return page_of


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
