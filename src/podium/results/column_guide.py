"""Descriptions of the columns in a results table, for `docs/results.md` and `podium columns`."""

from typing import NamedTuple


class Column(NamedTuple):
    name: str
    type: str
    default: str  # meaning if the column is absent or a cell is empty
    meaning: str
    example: str
    unit: str = ""


class Status(NamedTuple):
    """A status that an entry can have, and its meaning in every system."""

    name: str
    meaning: str
    cost: str


NO_DEFAULT = "every row needs a value"
UNKNOWN = "not known"
COMPARED = ("position", "score", "time_s", "team_score")  # each of these determines who beat whom

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
        "date, or date and time, in ISO 8601",
        "events are rated in the order of the file",
        "When the event started. Give it on every row or on none. It determines the order of events,"
        " regardless"
        " of their order in the file.",
        "2025-06-01T19:00:00Z",
        unit="UTC unless the text has an offset",
    ),
    Column(
        "sequence",
        "number",
        "the order of the file",
        "Orders events that start at the same time or have no started_at; lower numbers come first."
        " Give it on"
        " every row or on none.",
        "3",
    ),
    Column(
        "pool",
        "text",
        "default",
        "A game type, series or league. Pools are rated separately; a player has one rating in each.",
        "karts",
    ),
    Column(
        "mode",
        "text",
        "the name of the pool",
        "How the heat was raced. stk and stk-rd recognise time-trial, and xonstat-2015 recognises duel. All other"
        " modes are treated alike. All rows of one heat have the same mode.",
        "time-trial",
    ),
    Column(
        "heat",
        "text",
        "the event is one heat",
        "The part of an event that the row belongs to: 1, 2, 3 and so on, or overall for the event's"
        " final result. A player has one row in each heat.",
        "2",
    ),
    Column(
        "team",
        "text",
        "the player competes individually",
        "The player's team in this heat. Team mates share the team's result and are not compared. In"
        " some systems, everyone still plays individually.",
        "red",
    ),
    Column(
        "side",
        "home, away, white or black",
        "no side has the first move",
        (
            "Who is at home, or has the first move: home or white for one player or team in a heat, away"
            " or black for the rest. adaptive learns what this is worth, and elo uses it if home is set;"
            " other systems ignore it."
        ),
        "home",
    ),
    Column("player", "text", NO_DEFAULT, "The player that the row belongs to, always written the same way.", "Ana"),
    Column(
        "position",
        "number above 0",
        UNKNOWN,
        "The place in the heat: 1 is best, and equal places are a tie. If every finisher of a heat"
        " has a place, the places decide who beat whom.",
        "1",
        unit="places",
    ),
    Column(
        "time_s",
        "number above 0",
        UNKNOWN,
        "The finish time; shorter is better. It decides if neither position nor score does. stk needs it for every"
        " finisher, as does stk-rd.",
        "61.204",
        unit="seconds",
    ),
    Column(
        "score",
        "number",
        UNKNOWN,
        "The player's score; higher is better. It decides if no position does. xonstat-2015 needs it"
        " for every finisher.",
        "23",
        unit="the game's own points",
    ),
    Column(
        "team_score",
        "number",
        "the place that the members share, or else the sum of their scores",
        "The whole team's score, the same on the rows of all its members; higher is better.",
        "3",
        unit="the game's own points",
    ),
    Column(
        "status",
        "finished, quit, dnf, disqualified or did_not_start",
        "finished",
        "How the entry ended. Only finished entries get a place; quit and dnf lose, and the other two are left out."
        " irating rates did_not_start as well.",
        "quit",
    ),
    Column(
        "played_s",
        "number, 0 or more",
        "the whole duration",
        "How long the player took part in the heat. Together with duration_s, it gives the share of"
        " the heat that the player played. This determines how much a player who came late or left early has at stake"
        " (xonstat, xonstat-2015) or counts in the team (trueskill, openskill). If it is 0 for everyone in a heat, it"
        " counts as unknown.",
        "540",
        unit="seconds",
    ),
    Column(
        "duration_s", "number, 0 or more", UNKNOWN, "How long the heat lasted; see played_s.", "600", unit="seconds"
    ),
    Column(
        "ranked",
        "true or false",
        "true",
        "Whether the row counts towards ratings. A row that is not ranked is left out of its event.",
        "false",
    ),
    Column(
        "handicap",
        "true, false, or a number, 0 or more",
        "0",
        "The handicap. egf reads the stones that the player received; 1 is a game without komi. In stk-rd, any handicap"
        " counts alike: the raw rating is 2000 lower, and a quarter of the points is at stake.",
        "1",
    ),
    Column(
        "age_group",
        "number, 0 or more",
        "the last known one",
        "The oldest age in the player's group, counted by year of birth: 18, 20, 25, or 99 for everyone older. fide"
        " uses it for K and dwz for its coefficient.",
        "18",
        unit="years",
    ),
    Column(
        "birth_year",
        "number above 0",
        "see age_group",
        "The year in which the player was born. Podium reads the age_group from it and the year of started_at, and does"
        " not keep the year itself.",
        "2009",
    ),
    Column(
        "weight",
        "number above 0, at most 100",
        "1",
        "How many times each comparison of the event counts: 2 for a final that counts double. An"
        " event has one weight.",
        "2",
        unit="times",
    ),
    Column(
        "awards",
        "text",
        "no award",
        "What else the player achieved in the heat, such as the fastest lap, separated by commas. It may be worth"
        " points in a championship. It does not affect ratings.",
        "pole",
    ),
    Column(
        "title",
        "text",
        "pages show the event_id",
        "The name shown for the event. Give it on one row of the event or on all; an event has one"
        " title. It does"
        " not affect ratings.",
        "Hungarian Grand Prix",
    ),
    Column(
        "url",
        "text",
        "no link",
        "A page about the event, such as a video or a thread. It starts with http or https and has up to 2,000"
        " characters."
        " An event has one address.",
        "https://example.org/race-17",
    ),
)

STATUSES: tuple[Status, ...] = (
    Status("finished", "The player finished.", "None: the place, score or time decides."),
    Status(
        "quit",
        "The player left, or lost the connection.",
        "The player loses the heat to everyone who finished; any further cost depends on the system.",
    ),
    Status(
        "dnf",
        "Did not finish: broke down, ran out of time, or was still on the track.",
        "Like a quit in every system, except trials with quit_policy=remaining.",
    ),
    Status(
        "disqualified",
        "The player was disqualified.",
        "None: the row is left out, as if the player had not taken part.",
    ),
    Status(
        "did_not_start",
        "The player was entered but did not start.",
        "None: the row is left out, as if the player had not taken part. In irating it costs points.",
    ),
)
