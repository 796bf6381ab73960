"""Descriptions of the columns of a results table, for `docs/results.md` and `podium columns`."""

from typing import NamedTuple


class Column(NamedTuple):
    name: str
    type: str
    default: str  # meaning of an absent column or an empty cell
    meaning: str
    example: str
    unit: str = ""


class Status(NamedTuple):
    """A status of an entry, and its meaning in every system."""

    name: str
    meaning: str
    cost: str


NO_DEFAULT = "every row needs one"
UNKNOWN = "not known"
COMPARED = ("position", "score", "time_s", "team_score")  # any of these says who beat whom

COLUMNS: tuple[Column, ...] = (
    Column(
        "event_id",
        "text",
        NO_DEFAULT,
        "The race or match. All rows of one event have the same event_id; an event has one start, one sequence, one "
        "pool and one weight.",
        "race-17",
    ),
    Column(
        "started_at",
        "date or date and time, ISO 8601",
        "events are rated in the order of the file",
        "When the event started: on every row, or on none. It orders the events, whatever their order in the file.",
        "2025-06-01T19:00:00Z",
        unit="UTC unless the text has an offset",
    ),
    Column(
        "sequence",
        "number",
        "the order of the file",
        "Orders events that start at the same moment, or that have no started_at; the lower first. On every row, or on "
        "none.",
        "3",
    ),
    Column(
        "pool",
        "text",
        "default",
        "A game type, a series, a league. Ratings never cross pools; a player has one rating in each.",
        "karts",
    ),
    Column(
        "mode",
        "text",
        "the name of the pool",
        "How the heat was raced. stk and stk-rd know time-trial, xonstat-2015 knows duel; other modes are all alike. "
        "All rows of one heat have the same mode.",
        "time-trial",
    ),
    Column(
        "heat",
        "text",
        "the event is one heat",
        "The part of an event that the row is about: 1, 2, 3 and so on, or overall for the event's final result. A "
        "player has one row in a heat.",
        "2",
    ),
    Column(
        "team",
        "text",
        "the player is alone",
        "The player's team in this heat. Team mates share the team's result and are not compared; in some systems "
        "everyone plays alone all the same.",
        "red",
    ),
    Column(
        "side",
        "home, away, white or black",
        "no side begins",
        "Who is at home, or has the first move: home or white of one player or team of a heat, away or black of the "
        "rest. adaptive learns what it is worth; other systems do not read it.",
        "home",
    ),
    Column("player", "text", NO_DEFAULT, "Who the row is about, written the same way everywhere.", "Ana"),
    Column(
        "position",
        "number above 0",
        UNKNOWN,
        "The place in the heat: 1 is best, equal places are a tie. It decides who beat whom wherever every finisher of "
        "a heat has one.",
        "1",
        unit="places",
    ),
    Column(
        "time_s",
        "number above 0",
        UNKNOWN,
        "The finish time; shorter is better. It decides where neither position nor score does. stk needs it for every "
        "finisher, and so does stk-rd.",
        "61.204",
        unit="seconds",
    ),
    Column(
        "score",
        "number",
        UNKNOWN,
        "What the player scored; higher is better. It decides where no position does. xonstat-2015 needs it for every "
        "finisher.",
        "23",
        unit="the game's own points",
    ),
    Column(
        "team_score",
        "number",
        "the place that the members share, else the sum of their scores",
        "What the whole team scored, the same on the rows of all its members; higher is better.",
        "3",
        unit="the game's own points",
    ),
    Column(
        "status",
        "finished, quit, dnf, disqualified or did_not_start",
        "finished",
        "How the entry ended. Only finished entries are placed; a quit or dnf loses, the other two are left out.",
        "quit",
    ),
    Column(
        "played_s",
        "number of 0 or more",
        "the whole duration",
        "How long the player was in the heat. With duration_s it says which part of it the player was there for, and "
        "so what a player who came late or left early has at stake (xonstat, xonstat-2015) or counts in the team "
        "(trueskill, openskill). If it is 0 for everyone in a heat, it counts as not known.",
        "540",
        unit="seconds",
    ),
    Column(
        "duration_s", "number of 0 or more", UNKNOWN, "How long the heat lasted; see played_s.", "600", unit="seconds"
    ),
    Column(
        "ranked",
        "true or false",
        "true",
        "Whether the row counts. A row that is not ranked is left out of its event.",
        "false",
    ),
    Column(
        "handicap",
        "true or false",
        "false",
        "Whether the player raced with a handicap. Only stk-rd reads it: a raw rating 2000 lower, at a quarter of the "
        "stake.",
        "true",
    ),
    Column(
        "weight",
        "number above 0, at most 100",
        "1",
        "How many times each comparison of the event counts: 2 for a final that counts double; one an event.",
        "2",
        unit="times",
    ),
    Column(
        "title",
        "text",
        "pages show the event_id",
        "What people call the event. On one row of it or on all; one an event. No rating depends on it.",
        "Hungarian Grand Prix",
    ),
    Column(
        "url",
        "text",
        "no link",
        "A page about the event: a video, a thread. With http or https, up to 2,000 characters; one an event, as the "
        "title.",
        "https://example.org/race-17",
    ),
)

STATUSES: tuple[Status, ...] = (
    Status("finished", "The player came to the end.", "Nothing: place, score or time decide."),
    Status(
        "quit",
        "The player left, or lost the connection.",
        "The heat is lost to everyone who finished it; what else depends on the system.",
    ),
    Status(
        "dnf",
        "Did not finish: broke down, ran out of time, was still on the track.",
        "As a quit in every system, but for trials with quit_policy=remaining.",
    ),
    Status(
        "disqualified",
        "The result was taken away.",
        "Nothing: the row is left out, as if the player had not been there.",
    ),
    Status(
        "did_not_start",
        "The player was on the list and did not start.",
        "Nothing: the row is left out, as if the player had not been there.",
    ),
)
