"""The service's answers with what pages show, as `make docs` writes them from its OpenAPI document."""

from datetime import date, datetime
from typing import Literal, NotRequired, TypedDict


class EntrantChange(TypedDict):
    """What an event did to an entrant."""

    player: str  # The player's name as it is now.
    change: float  # The change, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.


class EventHeadline(TypedDict):
    """An event in a list."""

    event_id: str  # The event.
    title: str | None  # What people call it; null where it has no title.
    url: str | None  # A page about it; null where there is none.
    started_at: datetime | None  # When it started; null in a numbered pool.
    status: Literal["rated", "unrated", "voided", "superseded"]  # What became of it.
    entrants: int  # How many took part.
    winners: list[str]  # Who won: several where the first place is shared.
    most_gained: EntrantChange | None  # The largest gain; null where nobody gained.
    most_lost: EntrantChange | None  # The largest loss; null where nobody lost.
    headline: str  # What happened, in a sentence or two.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class EventListPage(TypedDict):
    """A page of the list of events."""

    events: list[EventHeadline]  # The events, newest first.
    next: str | None  # The cursor of the page after it; null where there is none.


class ListedRow(TypedDict):
    """A player on a board."""

    # Among those who are listed: 1 is best, equal ratings share the best of their ranks. Null of an unsettled player
    # beside a board of settled ones.
    rank: int | None
    player: str  # The player's name.
    rating: float  # The rating, in points.
    deviation: float | None  # How uncertain the rating is, in points; null if the system does not say.
    provisional: bool  # Whether the rating is not settled yet.
    events: int  # Rated events of the player.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    # Ranks that the player has risen by since the day that the page names; null where there is nothing to compare with.
    move: int | None
    is_new: bool  # Whether the player was not on this board on that day.
    spark: list[float]  # The rating after each of the newest 16 changes at most, oldest first.
    newest_change: float | None  # The change by the pool's newest event, in points; null of whoever was not in it.
    newest_shown: float | None  # The change as people read it: the difference of the two ratings as they are shown.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class ListedPage(TypedDict):
    """A page of a board."""

    rows: list[ListedRow]  # The players, best first.
    next: str | None  # The cursor of the page after it; null where there is none.
    listed: int  # How many players the whole board lists.
    players: int  # How many players have a rating.
    since: date | None  # The day, at 00:00 UTC, that `move` compares with; null where there is none, or no dates.
    newest: EventHeadline | None  # The pool's newest rated event, if there is one.
    unsettled: list[ListedRow]  # On the first page of a board of settled players: up to 20 of the others, best first.
    since_sequence: NotRequired[float]  # Since before which event in a numbered pool.


class PlayerPage(TypedDict):
    """The page of a board that a player is on."""

    cursor: str | None  # The cursor of the page, empty of the first; null of whoever is not listed.


class FoundPlayer(TypedDict):
    """A player found by name."""

    pool: str  # The ladder.
    player: str  # The player's name as it is now.
    rating: float | None  # The rating, in points; null of whoever has none.
    rank: int | None  # Among the settled; null of whoever is not settled.
    former_name: str | None  # The former name that was found; null if the present one.
    is_similar: bool  # Whether the name is only similar to what was searched.


class EventName(TypedDict):
    """An event to be linked to."""

    event_id: str  # The event.
    title: str | None  # What people call it; null where it has no title.
    started_at: datetime | None  # When it started; null in a numbered pool.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class AdjacentEvents(TypedDict):
    """The events beside an event, in the order of rating."""

    previous: EventName | None  # The one before it; null where there is none.
    next: EventName | None  # The one after it; null where there is none.


class Mover(TypedDict):
    """A player's changes in a span of days, added up."""

    player: str  # The player's name as it is now.
    events: int  # Rated events of the player in these days.
    change: float  # The sum of the changes, in points.
    shown: float  # The sum as people read it: that of the changes as each of them is shown.


class Surprise(TypedDict):
    """The change that ratings expected least: won and lost points, or came last and gained; else the largest."""

    event_id: str  # The event.
    title: str | None  # What people call it; null where it has no title.
    started_at: datetime | None  # When it started; null in a numbered pool.
    player: str  # The player's name as it is now.
    change: float  # The change, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.
    settled: bool  # Whether the player's rating is settled now.
    rank: int | None  # The player's place in the event; null where it is not kept.
    field: int | None  # How many were rated in it; null where it is not kept.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Movers(TypedDict):
    """Who moved most in the days up to a pool's newest event; in a numbered pool so many events are days."""

    since: datetime | None  # From when on; null where there is no rated event, and in a numbered pool.
    gained: list[Mover]  # Who gained, most first.
    lost: list[Mover]  # Who lost, most first.
    surprise: Surprise | None  # The surprise of these days, of their newest 20,000 changes; null without an event.
    spread: float  # The standard deviation of all ratings: changes in several pools compare as shares of it.
    since_sequence: NotRequired[float]  # Since before which event in a numbered pool.


class Peak(TypedDict):
    """The highest rating after an event, while it was settled."""

    rating: float  # The rating, in points.
    deviation: float | None  # How uncertain it was; null if the system has no such.
    event_id: str  # The event after which it was reached, the first of them.
    started_at: datetime | None  # When it started; null in a numbered pool.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Streaks(TypedDict):
    """Runs of rated events, one after the other."""

    wins: int  # The longest run of events won.
    current_wins: int  # The run of events won that the newest ends.
    gains: int  # The longest run of events that raised the rating.
    current_gains: int  # The run of events that raised it that the newest ends.


class FormLine(TypedDict):
    """A rated event of a player, or where a season began, in a line."""

    event_id: str | None  # The event; null where a season began.
    title: str | None  # What people call it; null where it has no title.
    started_at: datetime | None  # When it started; null in a numbered pool.
    change: float  # The change of the rating, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.
    rating: float  # The rating after it, in points.
    rank: int | None  # The player's rank in it; null where none was sent.
    field: int | None  # How many entrants it rated; null where a season began.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class NearbyRow(TypedDict):
    """A player who is rated next to another; only settled ratings stand nearby."""

    rank: int | None  # The rank among the settled; null of a player who is not.
    player: str  # The player's name.
    rating: float  # The rating, in points.
    ahead: float  # Points ahead of the player of the card, by what ranks follow; negative where behind.
    ahead_shown: float  # The change as people read it: the difference of the two ratings as they are shown.


class Encounters(TypedDict):
    """How a player finished against one opponent, by the overall results of the newest events."""

    opponent: str  # The opponent.
    met: int  # Events in which both have a rank.
    ahead: int  # In how many of them the player finished ahead.
    behind: int  # In how many behind; in the others they shared a rank.


class PlayerCard(TypedDict):
    """A player at a glance."""

    player: str  # The player's name as it is now.
    rating: float  # The rating, in points.
    deviation: float | None  # How uncertain it is; null if the system has no such.
    provisional: bool  # Whether the rating is not settled yet.
    rank: int | None  # The rank among the settled; null of a player who is not.
    would_be_rank: int | None  # The rank that one who is not settled would have among them; null of who is.
    listed: int  # How many players are settled.
    move: int | None  # Ranks that the player has risen by since that day; null where there is no such rank.
    since: date | None  # The day, at 00:00 UTC, that `move` compares with; null where there is none, or no dates.
    events: int  # Rated events of the player.
    first_played_at: datetime | None  # When the first rated event started; null in a numbered pool.
    last_played_at: datetime | None  # When the player's last rated event started; null in a numbered pool.
    peak: Peak | None  # The settled rating that was highest less two deviations, from the sixth event on.
    last_ten: float  # The sum of the newest ten changes by events, from the sixth event on, in points.
    last_ten_shown: float  # The sum as people read it: that of the changes as each of them is shown.
    last_ten_events: int  # How many changes these are.
    # `climbing` or `falling` where the newest ten changes sum to more than the rating's own interval (without one, to
    # more than 25 points of Elo), else `steady`; `settling` while the rating is.
    trend: Literal["climbing", "falling", "steady", "settling"]
    chance: float  # That interval: so many points may be chance.
    is_highest: bool  # Whether the rating was never higher from the sixth event on.
    streaks: Streaks  # Runs of events won, and of events that raised the rating.
    form: list[FormLine]  # The newest ten events, newest first.
    best_days: list[FormLine]  # The largest gains, largest first; none of the first five events, which find a rating.
    worst_days: list[FormLine]  # The largest losses likewise.
    finding: float  # The sum of the changes by the first five events, in points.
    finding_shown: float  # The sum as people read it: that of the changes as each of them is shown.
    nearby: list[NearbyRow]  # Up to two who are rated above, the player, and up to two below; best first.
    # Up to three whom the player finishes ahead of more often than behind, the largest lead first; then whoever is
    # ahead of the player most, if anybody is. Over the newest hundred events at most.
    encounters: list[Encounters]
    former_names: list[str]  # Other names that lead to the player, in the order of letters.
    first_sequence: NotRequired[float]  # The number of the first rated event in a numbered pool.
    since_sequence: NotRequired[float]  # Since before which event in a numbered pool.
    last_sequence: NotRequired[float]  # The number of the player's last rated event in a numbered pool.


class CurvePoint(TypedDict):
    """A player's rating after an event, or where a season began."""

    started_at: datetime | None  # When it started; null in a numbered pool.
    event_id: str | None  # The event; null where a season began.
    change: float  # The change of the rating, in points.
    shown: float  # The change as people read it: the difference of the two ratings as they are shown.
    rating: float  # The rating after it, in points.
    deviation: float | None  # How uncertain it was; null if the system has no such.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class ChangesPage(TypedDict):
    """A page of a player's changes."""

    rows: list[FormLine]  # The changes, newest first.
    next: str | None  # The cursor of the page after it; null where there is none.


class RivalRow(TypedDict):
    """A player's duels against one opponent: a duel is one heat, or the overall result of several."""

    opponent: str  # The opponent.
    events: int  # Events in which they were compared.
    met: int  # Duels between them; none where neither finished.
    won: int  # Duels in which the player scored more than a half.
    drawn: int  # Duels in which each scored a half.
    lost: int  # Duels in which the player scored less than a half.
    score: float  # The sum of the scores; a draw is a half.
    expected: float  # The sum of the expected scores.
    points: float  # What the duels added to the player's rating.


class Scalp(TypedDict):
    """The least expected duel that a player won."""

    opponent: str  # The opponent.
    event_id: str  # The event.
    title: str | None  # What people call it; null where it has no title.
    started_at: datetime | None  # When it started; null in a numbered pool.
    heat: str  # The heat; empty where the event has one only.
    expected: float  # The score that was expected, from 0 to 1.
    sequence: NotRequired[float]  # Its number in a numbered pool.


class Rivals(TypedDict):
    """Whom a player met, over the newest events that are explained."""

    events: int  # Events that are counted: the newest, up to a hundred.
    duels: int  # Duels in them.
    won: float  # Duels won; a draw is a half.
    expected: float  # Duels that the ratings promised.
    opponents: list[RivalRow]  # Everyone met, whoever was met most first.
    best_scalp: Scalp | None  # The least expected duel that was won; null without one.


class Performance(TypedDict):
    """How well an entrant played in one event."""

    player: str  # The entrant.
    performance: float | None  # The rating whose expected score is the actual one; null where nobody was compared.
    # `at least` where every duel was won, `at most` where every duel was lost; else null.
    bound: Literal["at least", "at most"] | None


class EventField(TypedDict):
    """How strong the field of an event was, and how well each played in it."""

    players: int  # Entrants who were rated.
    mean_rating: float  # The mean of their ratings before it, in points.
    performances: list[Performance]  # Of each, in the order of the event's rows.


class CorrectedLine(TypedDict):
    """A line of an event's content that a correction changed."""

    heat: str | None  # The heat; null where the event has one only.
    player: str | None  # The player; null where it is of the event as a whole.
    before: str | None  # What is another now, in words; null where no line was there.
    after: str | None  # What it is now, in words; null where the line is gone.


class CorrectionRecord(TypedDict):
    """An event's submission, or something that was done to it afterwards."""

    seq: int  # The number of the log entry.
    kind: str  # What was done: submit, amend, move, void or restore.
    received_at: datetime  # When it came.
    actor: str  # Who did it: the name of a key, or what a command was given.
    reason: str | None  # Why; null where no reason was given, or it is blanked.
    events: int | None  # Events with a change that moved; null where not known.
    players: int | None  # Players who have one; null where not known.
    largest: float | None  # The most that the rating after any one change moved; null where not known.
    lines: list[CorrectedLine]  # What it changed of the event's content.


class ReliabilityBin(TypedDict):
    """Duels in which about the same score was expected; each is counted from both sides."""

    expected: float  # The mean of the expected scores.
    observed: float  # The mean of the scores.
    lowest: float  # The lower end of the 95 % interval of the observed mean.
    highest: float  # The upper end of it.
    duels: int  # How many there are.


class FairExpectation(TypedDict):
    """A player's duels in an event, as they were promised and as such promises come true in the pool."""

    duels: int  # Duels of the player.
    promised: float  # Duels that the ratings promised.
    fair: float | None  # Duels that would have been fair to expect; null where too few such are known.
    example: ReliabilityBin | None  # What came of promises like most of these; null where nothing is fair to say.


class PromisePoint(TypedDict):
    """What a lead promises the middle settled player over an equal; a newcomer where nobody is settled."""

    gap: float  # Points by which a player is ahead.
    expected: float  # The expected score, from 0 to 1.


class WeightPoint(TypedDict):
    """How far a duel moved players in their n-th rated event, by some who are spread over all."""

    event_number: int  # Which rated event of a player it was, from 1.
    points: float  # The most that one duel moved the middle player.
    players: int  # How many players it is the middle of.


class PoolFacts(TypedDict):
    """What a pool's whole history shows, as of a day."""

    day: date  # The day on which it was worked out.
    events: int  # Rated events that were counted: all, or the newest of a large pool.
    players: int  # Players in them.
    duels: int  # Duels in them; events of over 1,000 entrants have none here.
    promise: list[PromisePoint]  # What a lead in points promises.
    weights: list[WeightPoint]  # How far one duel moves a player, by event.
    reliability: list[ReliabilityBin]  # Whether promises came true.
