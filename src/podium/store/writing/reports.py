"""Personal links of players, and the results that players report with them.

A player has one link per pool. It ends when it is renewed or revoked, when the next season begins, or on a date. The
pool's secret signs it, so that organisers can print it again, although the database does not contain the signature.

A report counts only when other entrants have confirmed it, or after a time. It waits outside the log, with numbers
instead of names. The transaction that decides that it counts also logs and rates it as an event, whose ID is that of
the report or of the planned race.
"""

import hashlib
import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import itemgetter
from typing import Any, Literal, get_args

import sqlalchemy as sa
from itsdangerous import BadData, Signer

from podium.errors import ParameterError, PodiumError, UnknownError
from podium.log.database import StoreError
from podium.log.players import admit_names, names_of, numbers_of
from podium.log.pools import read_report_rules
from podium.log.schema import player_link, report
from podium.log.statements import DAY_US, instant, microseconds, now, of_pool, upsert
from podium.store.following import PoolReader
from podium.store.writing.execution import execute
from podium.store.writing.proposals import Proposal
from podium.store.writing.receipts import Receipt
from podium.store.writing.submission import Submission, submit
from podium.support.answers import answer, described
from podium.support.immutable import immutable
from podium.support.words import part
from podium.views.names import accounts_of, number_of, present_names, public_numbers
from podium.views.races.fixtures import NO_RESULT, STARTED, Fixture, as_fixtures, fixtures, plans_of

LinkAct = Literal["give", "renew", "revoke"]
NONCE_BYTES = 12
SALT = "podium player link"
ENDED = "this link no longer works. Ask the organisers for a new one."
SELECT_LINKS = sa.select(player_link).where(of_pool(player_link))
DELETE_LINK = sa.delete(player_link).where(of_pool(player_link), player_link.c.player_id == sa.bindparam("player"))


@answer
class PlayerLink:
    """A player's personal link.

    Attributes:
        player: The player's current name.
        path: Path of the link. Anyone who has it can report and confirm results as this player.
        until: Time at which the link ends. Null if only the next season ends it.
    """

    player: str
    path: str
    until: datetime | None


def valid_rows(pool: PoolReader) -> list[Any]:
    """Return the rows of links that have not ended. The beginning of a season ends all earlier links."""
    seasons, time = len(pool.snapshot.events.seasons), now()
    rows = pool.execute(SELECT_LINKS)
    return [row for row in rows if row.seasons == seasons and (row.expires_at is None or time < row.expires_at)]


def links(pool: PoolReader) -> tuple[PlayerLink, ...]:
    """List the personal links of players that work.

    Returns:
        The links, sorted by name.
    """
    rows, signer = valid_rows(pool), Signer(pool.secret, SALT)
    names = present_names(pool, [row.player_id for row in rows])
    found = []
    for row in rows:
        path = f"/p/{part(pool.name)}/report/{signer.sign(row.nonce).decode()}"
        until = None if row.expires_at is None else instant(row.expires_at)
        found.append(PlayerLink(names[row.player_id], path, until))
    return tuple(sorted(found, key=lambda link: link.player.casefold()))


def change_links(
    pool: PoolReader, act: LinkAct | str, names: Sequence[str] = (), *, until: datetime | None = None
) -> tuple[PlayerLink, ...]:
    """Give links to players who have none, or replace or revoke links. New names are added as players.

    Args:
        pool: the pool.
        act: `give`, `renew` or `revoke`.
        names: the players' names. Default: all players.
        until: time at which new links end. Default: when the next season begins.

    Returns:
        All links of the pool that work.

    Raises:
        StoreError: players of this pool cannot report results.
        ParameterError: there is no such act, a name is invalid, or the time has passed.
        UnknownError: a player whose link would be revoked does not exist.
    """
    if act not in get_args(LinkAct):
        raise ParameterError(f"{act!r} is not possible. Use one of {', '.join(get_args(LinkAct))}.")
    if act == "revoke":
        for name in names or names_of(pool).values():
            for account in accounts_of(pool, number_of(pool, name)):
                pool.run(DELETE_LINK, player=account)
        return links(pool)
    if not pool.description.reports:
        raise StoreError(f"Players cannot report results. Allow it: podium pool set {pool.name} --reports '50% 48h'")
    if until is not None and microseconds(until) <= now():
        raise ParameterError("The links would end at once. Give a later date.")
    given = numbers_of(pool, admit_names(pool, names)).values() if names else names_of(pool)
    known = {row.player_id for row in valid_rows(pool)} if act == "give" else set()
    seasons = len(pool.snapshot.events.seasons), None if until is None else microseconds(until)
    new = {pool.snapshot.merged.get(number, number) for number in given} - known
    upsert(
        pool.connection,
        player_link,
        [(pool.id, player, secrets.token_urlsafe(NONCE_BYTES), *seasons) for player in sorted(new)],
    )
    return links(pool)


def player_with(pool: PoolReader, link: str) -> int:
    """Find the player to whom a link belongs.

    Returns:
        The number of the player.

    Raises:
        UnknownError: the link does not work.
    """
    try:
        nonce = Signer(pool.secret, SALT).unsign(link.encode(errors="replace")).decode()
    except BadData:
        raise UnknownError(ENDED) from None
    for row in valid_rows(pool) if pool.description.reports else ():
        if row.nonce == nonce:
            return pool.snapshot.merged.get(row.player_id, row.player_id)
    raise UnknownError(ENDED)


OPEN, DISPUTED, COUNTED, REFUSED = "open", "disputed", "counted", "refused"
WAITING = OPEN, DISPUTED
CONFIRMED, UNOPPOSED = "players (confirmed)", "players (no objection)"  # senders of events, for the log
HOUR_US = DAY_US // 24
MAX_PER_DAY = 20  # reports of a player
MAX_AGE = timedelta(days=31)  # of a reported result
CLOCK_LEAD = timedelta(hours=1)
KEPT_US = 45 * DAY_US
MAX_LISTED = 200
DAY = len("2026-01-31")
RESULT = "player", "position", "status", "time_s", "score"  # columns of a row; in a planned race, others are known
SELECT_REPORTS = sa.select(report).where(of_pool(report)).order_by(report.c.reported_at, report.c.report_id)
DISPUTE = sa.update(report).where(of_pool(report), report.c.report_id == sa.bindparam("which")).values(status=DISPUTED)
DELETE_OLD = sa.delete(report).where(of_pool(report), report.c.reported_at < sa.bindparam("before"))


@answer
class Report:
    """A result that a player reported.

    Attributes:
        report_id: ID of the report.
        event_id: ID of its event, once it counts: that of the planned race, or of the report.
        player: The player who reported it.
        reported_at: Time at which it was reported.
        started_at: Start of the event. Null in a pool without dates.
        result: The result as text, such as `1. ana, 2. ben`.
        confirmed: Entrants who confirmed it, including the one who reported it.
        objected: Entrants who objected.
        counts_at: Time at which it counts if nobody objects. Null if only answers decide.
        problem: In the list of waiting reports, the reason why it cannot count, such as two accounts that were merged.
            Usually null.
    """

    report_id: str
    event_id: str
    player: str
    reported_at: datetime
    started_at: datetime | None
    status: str = described(
        "Status. An objection makes it `disputed`, and an organiser then decides.",
        enum=[OPEN, DISPUTED, COUNTED, REFUSED],
    )
    result: str
    confirmed: tuple[str, ...]
    objected: tuple[str, ...]
    counts_at: datetime | None
    problem: str | None


ReportAndReceipts = tuple[Report, Sequence[Receipt]]  # a report, and the receipt of its event if it has just counted


@immutable
class StoredReport:
    """A report with numbers of players."""

    report_id: str
    reported_at: int
    status: str
    player: int
    started_at: str | None
    rows: list[dict[str, Any]]  # of a results table, as they were sent, without the event's ID and date
    answers: dict[int, bool]  # by player; True if the player confirmed it
    race: int | None = None  # number of the planned race; the race's own team and equipment are not in the rows

    @property
    def entrants(self) -> set[int]:
        return {row["player"] for row in self.rows}

    @property
    def result(self) -> tuple[Any, ...]:
        """The date, race and rows, which are equal if two players report the same result."""
        return str(self.started_at)[:DAY], self.race, sorted(self.rows, key=itemgetter("player"))


def read_reports(pool: PoolReader) -> list[StoredReport]:
    """Return a pool's reports, oldest first. Merged accounts have the number of the player."""
    merged, found = pool.snapshot.merged, []
    for row in pool.execute(SELECT_REPORTS):
        player, started_at, rows, answers, *race = json.loads(row.body)
        present = [{**each, "player": merged.get(each["player"], each["player"])} for each in rows]
        answered = {merged.get(number, number): agrees for number, agrees in answers}
        columns = row.report_id, row.reported_at, row.status, merged.get(player, player)
        found.append(StoredReport(*columns, started_at, present, answered, *race))
    return found


def keep(pool: PoolReader, found: StoredReport, actor: str) -> ReportAndReceipts:
    """Store a report, or its new status and answers. If it counts now, submit its event.

    Args:
        pool: the pool.
        found: the report.
        actor: the sender of the event, for the log.
    """
    receipts: Sequence[Receipt] = ()
    if found.status == COUNTED:
        receipts = execute(pool, lambda locked: propose(locked, found, actor), refuse_long=False).receipts
    body = json.dumps([found.player, found.started_at, found.rows, [*found.answers.items()], found.race])
    upsert(pool.connection, report, [(pool.id, found.report_id, found.reported_at, found.status, body)])
    return as_answer(pool, found), receipts


def list_reports(pool: PoolReader, player: int | None = None) -> tuple[Report, ...]:
    """List the reports that are waiting for confirmations or a decision.

    Args:
        pool: the pool.
        player: number of a player, to list all recent reports of this player's results instead.

    Returns:
        The reports, newest first.
    """
    chosen = [
        found
        for found in read_reports(pool)[::-1]
        if (found.status in WAITING if player is None else player in found.entrants)
    ]
    return tuple(
        as_answer(pool, found, problem_of(pool, found) if player is None else None) for found in chosen[:MAX_LISTED]
    )


def count_waiting(pool: PoolReader) -> int:
    """Count the reports that are waiting for confirmations or a decision.

    Returns:
        The number of reports.
    """
    return sum(found.status in WAITING for found in read_reports(pool))


def problem_of(pool: PoolReader, found: StoredReport) -> str | None:
    """Return the reason why a report cannot count, or None."""
    try:
        propose(pool, found)
    except PodiumError as error:
        return str(error)
    return None


def as_answer(pool: PoolReader, found: StoredReport, problem: str | None = None) -> Report:
    """Return a report with the players' current names."""
    names, rows = present_names(pool, {found.player, *found.answers}), event_rows(pool, found)
    placed = sorted(rows, key=lambda row: row.get("position") or math.inf)
    result = ", ".join(f"{row.get('position') or row['status']}. {row['player']}" for row in placed)
    confirmed, objected = (
        tuple(names[player] for player, agrees in found.answers.items() if agrees == wanted) for wanted in (True, False)
    )
    hours = read_report_rules(pool.description.reports).hours
    counts_at = instant(found.reported_at + hours * HOUR_US) if hours and found.status == OPEN else None
    start = None if found.started_at is None else datetime.fromisoformat(found.started_at)
    columns = found.report_id, rows[0]["event_id"], names[found.player], instant(found.reported_at), start, found.status
    return Report(*columns, result, confirmed, objected, counts_at, problem)


def propose(pool: PoolReader, found: StoredReport, actor: str = CONFIRMED) -> Proposal:
    """Return the event that a report becomes, without storing it."""
    return submit(pool, [Submission(event_rows(pool, found), actor, {})])


def event_rows(pool: PoolReader, found: StoredReport) -> list[dict[str, Any]]:
    """Return the rows of the event that a report becomes."""
    of_event: dict[str, Any] = {"event_id": found.report_id, "started_at": found.started_at}
    planned: dict[str, dict[str, str]] = {}
    if found.race is not None:
        (race,) = as_fixtures(pool, plans_of(pool, [found.race]))
        of_event |= {"event_id": race.fixture_id, "title": race.title}
        planned = {starter.player: starter.columns for starter in race.entrants or ()}
    names = present_names(pool, [row["player"] for row in found.rows])
    named = [{**row, **of_event, "player": names[row["player"]]} for row in found.rows]
    return [row | planned.get(row["player"], {}) for row in named]


def races_to_report(pool: PoolReader, player: int) -> list[Fixture]:
    """List the recent races without a result that a player may report.

    Returns:
        The races.
    """
    (name,) = present_names(pool, [player]).values()
    return [
        race
        for race in fixtures(pool, since=datetime.now(UTC) - MAX_AGE, most=MAX_LISTED)
        if race.status in (STARTED, NO_RESULT) and (race.entrants is None or name in chain(*race.sides))
    ]


def numbered_rows(pool: PoolReader, player: int, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a player's result, with numbers instead of names."""
    numbers, merged = public_numbers(pool, [row["player"] for row in rows]), pool.snapshot.merged
    found = []
    for row in rows:
        if row["player"] not in numbers:
            raise ParameterError(f"{row['player']}: nobody here has this name. Correct it, or ask the organisers.")
        number = numbers[row["player"]]
        found.append({**row, "player": merged.get(number, number)})
    entrants = {row["player"] for row in found}
    if player not in entrants or len(entrants) < len(found):
        raise ParameterError("You and every other player need exactly one place.")
    return found


def add_report(
    pool: PoolReader, player: int, rows: Sequence[Mapping[str, Any]], *, form: str, race: str = ""
) -> ReportAndReceipts:
    """Add a player's report. If another player reported the same result, confirm that report instead.

    Args:
        pool: the pool.
        player: number of the player.
        rows: the result, as for `podium.rate`.
        form: text that differs between two reports of a player. The same report sent twice has the same text.
        race: ID of the planned race whose result this is, if any.

    Returns:
        The report, and the receipt of its event if it counts now.

    Raises:
        ParameterError: a name is unknown, a player does not have one place, the date is not recent, or the player may
            not report the race.
        StoreError: the player has sent too many reports.
    """
    own = numbered_rows(pool, player, rows)
    started_at = own[0].get("started_at")
    if started_at and not -CLOCK_LEAD <= datetime.now(UTC) - datetime.fromisoformat(started_at) <= MAX_AGE:
        raise ParameterError(f"The date must be within the last {MAX_AGE.days} days.")
    number = None
    if race:
        if race not in {planned.fixture_id for planned in races_to_report(pool, player)}:
            raise ParameterError(f"{race}: only entrants can report this race, after its start and before its result.")
        number = pool.snapshot.events.fixtures.find(race)
    columns = RESULT if race else (*RESULT, "team")
    kept = [{name: value for name, value in row.items() if name in columns} for row in own]
    report_id = f"report-{hashlib.blake2b(f'{player} {form} {kept}'.encode(), digest_size=5).hexdigest()}"
    new = StoredReport(report_id, now(), OPEN, player, started_at, kept, {player: True}, number)
    known = read_reports(pool)
    for found in known:
        if found.report_id == report_id:
            return as_answer(pool, found), ()
    for found in known:
        if found.status == OPEN and player not in found.answers and found.result == new.result:
            return answer_report(pool, found.report_id, player, agrees=True)
    if sum(found.player == player and found.reported_at > new.reported_at - DAY_US for found in known) >= MAX_PER_DAY:
        raise StoreError(f"You have sent {MAX_PER_DAY} reports within a day. Send this one tomorrow.")
    propose(pool, new)
    return keep(pool, new, CONFIRMED)


def find_report(pool: PoolReader, report_id: str, player: int | None = None) -> StoredReport:
    """Return a report, if this player is an entrant. Default: any report."""
    for found in read_reports(pool):
        if found.report_id == report_id and (player is None or player in found.entrants):
            return found
    raise UnknownError(f"There is no report {report_id!r} to answer. Check the ID.")


def answer_report(
    pool: PoolReader, report_id: str, player: int | None = None, *, agrees: bool, actor: str = CONFIRMED
) -> ReportAndReceipts:
    """Confirm a report, or object to it. Once it counts or is refused, answers have no effect.

    Args:
        pool: the pool.
        report_id: the ID of the report.
        player: number of the player who answers. An objection of the player who sent it withdraws it. Default: an
            organiser, whose answer decides.
        agrees: True to confirm.
        actor: the sender of the event, for the log.

    Returns:
        The report, and the receipt of its event if it counts now.

    Raises:
        UnknownError: there is no such report with this player.
        PodiumError: it would count, but its event is invalid.
    """
    found = find_report(pool, report_id, player)
    if found.status not in WAITING:
        return as_answer(pool, found), ()
    if player is None:
        status = COUNTED if agrees else REFUSED
    elif player == found.player and not agrees:
        status = REFUSED
    else:
        found = replace(found, answers=found.answers | {player: agrees})
        status = status_by_answers(pool, found)
    return keep(pool, replace(found, status=status), actor)


def status_by_answers(pool: PoolReader, found: StoredReport) -> str:
    """Return a report's status after an answer of a player. Teammates alone cannot confirm it."""
    if not all(found.answers.values()):
        return DISPUTED
    rows = zip(found.rows, event_rows(pool, found), strict=True)
    teams = {stored["player"]: row.get("team", row["player"]) for stored, row in rows}
    if all(teams[player] == teams[found.player] for player in found.answers):
        return OPEN
    share = (len(found.answers) - 1) / (len(teams) - 1)
    return COUNTED if share >= read_report_rules(pool.description.reports).share else OPEN


def due_reports(pool: PoolReader) -> list[str]:
    """Return the IDs of the reports to which nobody has objected in time, and delete old reports."""
    pool.run(DELETE_OLD, before=now() - KEPT_US)
    hours = read_report_rules(pool.description.reports).hours
    due = now() - (math.inf if hours is None else hours * HOUR_US)
    return [found.report_id for found in read_reports(pool) if found.status == OPEN and found.reported_at <= due]


def count_due(pool: PoolReader, report_id: str) -> Sequence[Receipt]:
    """Count a report that is due, unless somebody has objected in the meantime."""
    found = find_report(pool, report_id)
    return keep(pool, replace(found, status=COUNTED), UNOPPOSED)[1] if found.status == OPEN else ()


def dispute(pool: PoolReader, report_id: str) -> None:
    """Let an organiser decide about a report that cannot count."""
    pool.run(DISPUTE, which=report_id)


def restart_hours(connection: sa.Connection, *which: sa.ColumnElement[bool]) -> None:
    """Let the time for objections begin again, because nobody could object in a copy of the database.

    Args:
        which: conditions of the reports. Default: all reports.
    """
    connection.execute(sa.update(report).where(report.c.status == OPEN, *which).values(reported_at=now()))
