"""Answers to players' questions, based on the system's rules, the pool's settings and its events."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from decimal import Decimal
from inspect import getdoc

import polars as pl
from markupsafe import Markup, escape

from podium.engine.system import System
from podium.ledger.history import can_be_provisional
from podium.ledger.reasons import Explanation
from podium.ledger.reasons.what_if import Alternative
from podium.log.pools import earlier, time_of
from podium.pages.numbers import SIGMAS, day_words, in_sentence, named
from podium.pages.reliability import findings
from podium.service.web.boards import established_rule
from podium.service.web.rendering import PoolHeader
from podium.store import Store
from podium.store.pool_facts import LARGE_FIELD, PoolFacts
from podium.support.immutable import immutable
from podium.support.words import counted, shown, shown_change
from podium.views.models import EventDetails
from podium.views.player_models import EventHeadline, ListedRow, Listing

SEARCHED = 50  # number of newest events to search
READ = 8  # number of newest events to read completely
QUIT = ("quit", "dnf")


@immutable
class Example:
    """An event's effect on a player, with the reasons."""

    headline: EventHeadline
    explanation: Explanation


@immutable
class Examples:
    """Examples of events and players in a pool. Missing examples are None."""

    latest: EventHeadline | None = None
    newest: Example | None = None  # the largest loss or, if nobody lost, the largest gain
    winner: Example | None = None  # the same event for its winner
    won_yet_lost: Example | None = None
    quit: tuple[Example, Alternative | None] | None = None  # a player who did not finish, and the effect of finishing
    exchange: tuple[EventHeadline, Decimal, Decimal] | None = None  # sums of gains and losses, as displayed
    unrated: EventHeadline | None = None
    best: ListedRow | None = None
    longest_away: ListedRow | None = None  # someone on the first page of the board
    provisional: ListedRow | None = None
    listed: int = 0
    players: int = 0
    has_teams: bool = False


def find_examples(store: Store, pool_name: str, digits: int) -> Examples:
    """Find examples among a pool's newest events and on its board."""
    board = store.leaderboard(pool_name, Listing(), top=50)
    headlines = store.event_list(pool_name, top=SEARCHED).events
    latest = [headline for headline in headlines if headline.status == "rated"]
    rated = [event for event in latest if event.entrants <= LARGE_FIELD] or latest
    read = [store.event(pool_name, event.event_id) for event in rated[:READ]]
    moved = (rated[0].most_lost or rated[0].most_gained) if rated else None
    return Examples(
        latest=next(iter(latest), None),
        newest=None if moved is None else explained(store, pool_name, rated[0], moved.player),
        winner=explained(store, pool_name, rated[0], rated[0].winners[0]) if rated and rated[0].winners else None,
        won_yet_lost=won_yet_lost(store, pool_name, rated, read, digits),
        quit=quit_example(store, pool_name, rated, read),
        exchange=exchange(rated[0], read[0], digits) if rated else None,
        unrated=next((headline for headline in headlines if headline.status == "unrated"), None),
        best=board.players[0] if board.players else None,
        longest_away=min(board.players, key=lambda event: time_of(event.last_when), default=None),
        provisional=board.provisional[0] if board.provisional else None,
        listed=board.listed,
        players=board.rated,
        has_teams=any(entry.team for details in read for entry in details.entries),
    )


def explained(store: Store, pool_name: str, headline: EventHeadline, player: str) -> Example:
    return Example(headline, store.explain(pool_name, headline.event_id, player))


def won_yet_lost(
    store: Store, pool_name: str, rated: Sequence[EventHeadline], read: Sequence[EventDetails], digits: int
) -> Example | None:
    """Return the newest event whose winner lost most points, or else the event that cost a winner most."""
    for headline in rated:
        lost = headline.most_lost
        if lost is not None and headline.winners == (lost.player,):
            return explained(store, pool_name, headline, lost.player)
    losses = [
        (shown_change(change.rating_before, change.rating, digits), k, change.player)
        for k, details in enumerate(read)
        for change in details.changes
        if rated[k].winners == (change.player,)
    ]
    points, k, player = min(losses, default=(0, 0, ""))
    return explained(store, pool_name, rated[k], player) if points < 0 else None


def unfinished(details: EventDetails) -> Iterator[str]:
    """Yield the rated players who did not finish a heat of an event, starting with those who quit."""
    rated = {change.player for change in details.changes}
    for status in QUIT:
        yield from (entry.player for entry in details.entries if entry.status == status and entry.player in rated)


def quit_example(
    store: Store, pool_name: str, rated: Sequence[EventHeadline], read: Sequence[EventDetails]
) -> tuple[Example, Alternative | None] | None:
    for headline, details in zip(rated, read, strict=False):
        player = next(unfinished(details), None)
        if player is not None:
            # quit heats come first
            alternatives = store.what_if(pool_name, headline.event_id, player).alternatives
            return explained(store, pool_name, headline, player), next(iter(alternatives), None)
    return None


def exchange(headline: EventHeadline, details: EventDetails, digits: int) -> tuple[EventHeadline, Decimal, Decimal]:
    """Return the sums of gains and losses in an event, calculated from the displayed changes."""
    changes = [shown_change(change.rating_before, change.rating, digits) for change in details.changes]
    nothing = Decimal(0)
    gained, lost = (sum((change for change in changes if sign * change > 0), nothing) for sign in (1, -1))
    return headline, gained, -lost


LATER_EVENT = 10  # number of the event to compare with a first event
AWAY = timedelta(days=90)
CLEAR_CHANCE = 0.75  # chance of winning with which a player is a clear favourite
Parts = Iterator[str | Markup]


@immutable
class Known:
    """The data on which answers are based."""

    header: PoolHeader
    system: System
    facts: PoolFacts
    examples: Examples

    @property
    def has_deviation(self) -> bool:
        return "deviation" in self.system.state_type._fields


def questions(known: Known) -> Iterator[tuple[str, Markup]]:
    """Yield every question that can be answered for a pool, with its answer."""
    for answer in ANSWERS:
        parts = [escape(sentence) for sentence in answer(known)]
        if parts:
            yield getdoc(answer) or "", Markup(" ").join(parts)


def reasons(example: Example) -> Parts:
    """Yield the verdict on an example, and its main cause."""
    names = [example.explanation.player, *example.explanation.rows["opponent"].drop_nulls().unique().to_list()]
    yield in_sentence(example.explanation.verdict, *names)
    if example.explanation.duels.headline:
        yield example.explanation.duels.headline
    if example.explanation.cause:
        yield in_sentence(example.explanation.cause, *names)


def winning_yet_losing(known: Known) -> Parts:
    """Why did I lose points even though I won?"""
    yield "Your rating predicted more than this win: more heats, more opponents, or a larger lead."
    example = known.examples.won_yet_lost
    if example is not None:
        yield Markup("In {}:").format(known.header.event_link(example.headline, example.explanation.player))
        yield from reasons(example)
    else:
        yield "In the latest events of this pool, no winner lost points."


def meaning_of_deviation(known: Known) -> Parts:
    """What is the ± behind a rating?"""
    if not known.has_deviation:
        return
    yield "How certain the rating is."
    best = known.examples.best
    if best is not None and best.deviation is not None:
        reach = known.header.rounded(SIGMAS * best.deviation)
        middle = known.header.rounded(best.rating)
        yield Markup("{} is rated {} ±{}: in 19 out of 20 cases the true level is between {} and {}.").format(
            known.header.player_link(best.player), middle, reach, middle - reach, middle + reach
        )
    newcomer = known.system.newcomer()
    yield f"It starts at {known.header.margin(newcomer.deviation)}, and shrinks with each duel."
    if known.system.established_deviation is not None:
        yield f"Up to {known.header.margin(known.system.established_deviation)}, a rating counts as established."


def margin_of_wins(known: Known) -> Parts:
    """Does it matter by how much I win?"""
    yield known.system.winning_margin
    depends_on_margin = known.system.winning_margin != System.winning_margin
    example = known.examples.winner
    if example is None:
        return
    rows = example.explanation.rows.filter(pl.col("opponent").is_not_null())
    graded = rows.filter(~pl.col("result").is_in([0.0, 0.5, 1.0]))
    stakes = rows.drop_nulls("weight").sort("weight", descending=True)
    link, winner = known.header.event_link(example.headline, example.explanation.player), example.explanation.player
    if graded.height:
        yield Markup("In {} {} won, and scored {} of 1 against {}.").format(
            link, named(winner), f"{graded['result'][0]:.2f}", named(graded["opponent"][0])
        )
    elif depends_on_margin and stakes.height and stakes["weight"][0] > stakes["weight"][-1]:
        yield Markup("In {} {} had {} points at stake against {}, and {} against {}.").format(
            link,
            named(winner),
            shown(stakes["weight"][0], known.header.digits),
            named(stakes["opponent"][0]),
            shown(stakes["weight"][-1], known.header.digits),
            named(stakes["opponent"][-1]),
        )
    elif known.system.winning_margin == System.winning_margin:
        yield from near_and_far(known, example)
    if known.system.overall_set and rows["heat"].n_unique() > 1:
        yield "But the overall result adds up the heats, and is compared as well."


def near_and_far(known: Known, example: Example) -> Parts:
    """Yield the winner's lead in an event over the second and over the last."""
    lines = example.explanation.standings
    heat = lines["heat"].drop_nulls().unique(maintain_order=True).to_list()
    finishers = lines.filter(pl.col("place").is_not_null(), pl.col("status") == "finished")
    if heat:
        finishers = finishers.filter(pl.col("heat") == heat[0])
    first, others = finishers.filter(place=1), finishers.filter(pl.col("place") > 1).sort("place")
    if first.height != 1 or others.height < 2:  # noqa: PLR2004  (a near and a far one)
        return
    where = Markup("{}{}").format(f"heat {heat[0]} of " if heat else "", known.header.event_link(example.headline))
    names = named(first["player"][0]), named(others["player"][0]), named(others["player"][-1])
    for column, sentence in (
        ("time_s", Markup("In {} {} was {:.10g} s ahead of {} and {:.10g} s ahead of {}: each is one duel won.")),
        ("score", Markup("In {} {} scored {:.10g} more than {} and {:.10g} more than {}: each is one duel won.")),
    ):
        if not finishers[column].null_count():
            near, far = (round(abs(others[column][k] - first[column][0]), 3) for k in (0, -1))
            yield sentence.format(where, names[0], near, names[1], far, names[2])
            return
    yield Markup("In {} {} was ahead of {}, who came next, and of {}, who came last. Each is one duel won.").format(
        where, *names
    )


def quitting(known: Known) -> Parts:
    """What if I disconnect or quit?"""
    unfinished = known.system.unfinished
    yield f"If you quit or do not finish a heat: {unfinished[:1].lower()}{unfinished[1:]}"
    found = known.examples.quit
    if found is None:
        return
    example, instead = found
    player = example.explanation.player
    yield Markup("In {}:").format(known.header.event_link(example.headline, player))
    yield from reasons(example)
    if instead is not None:
        moved = instead.shown
        would = f"gained {moved}" if moved > 0 else f"lost {abs(moved)}" if moved < 0 else "kept the rating"
        yield Markup("Had {} {}, {} would have {}.").format(named(player), instead.words, named(player), would)


def being_away(known: Known) -> Parts:
    """Do I lose points by not playing?"""
    yield "No. A rating stays as it is."
    if known.system.idle_unit is not None and known.has_deviation:
        every = "rating period" if known.system.idle_unit == "period" else "day"
        if known.header.is_undated:
            yield f"Its ± usually grows with each {every} away. Here it does not, because events have no dates."
        else:
            yield f"Its ± grows with each {every} away, so the next events change it more."
    elif known.has_deviation:
        yield "Its ± also stays the same."
    away, latest = known.examples.longest_away, known.examples.latest
    if away and latest and time_of(earlier(latest.when, AWAY)) > time_of(away.last_when):
        yield Markup("{} last played {} and is still rated {}.").format(
            known.header.player_link(away.player), known.header.on(away.last_when), known.header.rating(away.rating)
        )


def beginning(known: Known) -> Parts:
    """How does a newcomer begin?"""
    newcomer = known.system.newcomer()
    begins = known.header.rating(newcomer.rating)
    yield f"With {begins} points{f', {known.header.margin(newcomer.deviation)}' if known.has_deviation else ''}."
    weights = {weight.event_number: weight.points for weight in known.facts.weights}
    if 1 in weights:
        first = shown(weights[1], known.header.digits)
        yield f"One duel of a first event changed the median {known.header.word}'s rating by up to {first} points"
        later = max((weight for weight in weights if weight <= LATER_EVENT), default=1)
        yield f"and one of event {later} by {shown(weights[later], known.header.digits)}." if later > 1 else "so far."
    rule = established_rule(known.system)
    if rule:
        yield rule


def few_events(known: Known) -> Parts:
    """Somebody with very few events is rated high. Is that right?"""
    if not can_be_provisional(known.system):
        yield (
            "In this pool every rating counts from the first event on, so a player with a lucky start can rank high"
            " for a while."
        )
        return
    yield "Perhaps not: a provisional rating may be far off, so it is listed separately and has no rank."
    provisional = known.examples.provisional
    if provisional is not None:
        margin = f" {known.header.margin(provisional.deviation)}" if provisional.deviation is not None else ""
        yield Markup("{} is rated {}{} after {}.").format(
            known.header.player_link(provisional.player),
            known.header.rating(provisional.rating),
            margin,
            counted(provisional.events, "event"),
        )
    yield f"{known.examples.listed:,} of {counted(known.examples.players, known.header.word)} are on the board."


def handing_over(known: Known) -> Parts:
    """Do others get the points that I lose?"""
    if known.system.conserves:
        yield "Yes. In each duel, one player loses what the other wins."
        if "base_points_events" in known.system.__dataclass_fields__:
            yield "Newcomers also get base points, which no other player loses."
    else:
        yield (
            "Not exactly. How much a duel changes their rating depends on the certainty of their own rating, not of"
            " yours."
        )
    exchange = known.examples.exchange
    if exchange is not None:
        headline, gained, lost = exchange
        yield Markup("In {} {} points were gained, and {} lost.").format(
            known.header.event_link(headline), gained, lost
        )
        if known.system.conserves and gained != lost:
            yield "The two differ if players have different numbers of opponents, or if new points came in."


def weight_of_events(known: Known) -> Parts:
    """Do all events count the same?"""
    yield known.system.stakes
    unrated = known.examples.unrated
    if unrated is not None:
        yield Markup("{} changed no ratings: {}").format(known.header.event_link(unrated), unrated.headline)


def strength_of_opponents(known: Known) -> Parts:
    """Is it unfair to meet much stronger or weaker players?"""
    yield "No: expected scores take this into account."
    leads = [level for level in known.facts.expected if level.gap > 0]
    if leads:
        point = min(leads, key=lambda level: abs(level.expected - CLEAR_CHANCE))
        share = round(100 * point.expected)
        yield f"If you are rated {known.header.rating(point.gap)} above somebody, you should win {share} of 100 duels."
        yield "Losing costs more, and winning is worth less, than against an equal player."
    newest = known.examples.newest
    if newest is None:
        return
    rows = newest.explanation.rows.filter(pl.col("opponent").is_not_null(), pl.col("result") == 0.0).sort("gap")
    if rows.height > 1 and rows["shown"][0] < rows["shown"][-1] < 0.0:
        yield Markup("In {} losing to {}, rated {} {}, cost {} {}, and losing to {}, rated {} {}, cost {}.").format(
            known.header.event_link(newest.headline, newest.explanation.player),
            named(rows["opponent"][0]),
            *gap_words(known, rows["gap"][0]),
            named(newest.explanation.player),
            abs(shown(rows["shown"][0], known.header.digits)),
            named(rows["opponent"][-1]),
            *gap_words(known, rows["gap"][-1]),
            abs(shown(rows["shown"][-1], known.header.digits)),
        )


def gap_words(known: Known, gap: float) -> tuple[str, str]:
    """Return the gap between a player's rating and an opponent's, as a number and a direction."""
    return known.header.rating(abs(gap)), "above" if gap > 0 else "below"


def teams(known: Known) -> Parts:
    """What about team mates?"""
    if not known.examples.has_teams:
        return
    if not known.system.teams:
        yield "In this system everybody competes individually, even in a team."
        return
    yield "Team mates share the result of their team and are not compared with each other. Each is compared with"
    yield "all players of the other teams."


def when_ratings_change(known: Known) -> Parts:
    """When do ratings and ranks change?"""
    than = "the ranks before the event that they name" if known.header.is_undated else "00:00 UTC of the day"
    yield f"As soon as a result is in. The arrows next to ranks compare with {than}."
    yield f"{known.header.title} has separate ratings. Events of other pools do not count."
    latest = known.examples.latest
    if latest is not None:
        when = day_words(known.header.local(latest.when))
        yield Markup("The latest event is {}, on {}.").format(known.header.event_link(latest), when)


def correcting(known: Known) -> Parts:
    """Can a result be corrected?"""
    yield "Yes. All later ratings are then recalculated, exactly as if the result had always been right."
    yield "The event’s page shows what was changed, when, and by whom."  # noqa: RUF001  (typography)
    yield from writing_to(known.header)


def removing(known: Known) -> Parts:
    """What is stored about me, and can my name be removed?"""
    yield "The results that were sent, with the names in them, and the ratings calculated from them."
    yield "On request, a name is replaced everywhere by one such as “player 3”. No rating changes."
    yield from writing_to(known.header) if known.header.contact else ["Ask the organiser."]


def writing_to(header: PoolHeader) -> Parts:
    if header.contact:
        yield Markup('Write to <a href="{}">{}</a>.').format(header.contact_address, header.contact)


def trusting(known: Known) -> Parts:
    """Do favourites win as often as they should?"""
    found = findings(known.facts.reliability)
    if not found:
        return
    yield found
    yield (
        f"These figures cover {counted(known.facts.events, 'event')} of"
        f" {counted(known.facts.players, known.header.word)}."
    )


# Their docstrings are the questions.
ANSWERS: tuple[Callable[[Known], Parts], ...] = (
    *(winning_yet_losing, meaning_of_deviation, margin_of_wins, quitting, being_away, beginning, few_events),
    *(handing_over, weight_of_events, strength_of_opponents, trusting, teams, when_ratings_change),
    *(correcting, removing),
)
