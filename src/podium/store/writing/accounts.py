"""Accounts of players: merge them, undo merges, rename players, and set their details. All changes are logged."""

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.tables.equipment import called, equipment_name, kind_and_name
from podium.errors import MeetingError, ParameterError, PodiumError
from podium.ledger.saved import read_start
from podium.log.database import StoreError
from podium.log.log import DETAIL, MERGE, RENAME, START, UNMERGE, VOID, append, json_entry
from podium.log.players import (
    IDS,
    admit_names,
    exact_numbers,
    forget_alias,
    give_back,
    insert_aliases,
    known_numbers,
    names_of,
    numbers_of,
    provisional_numbers,
    unrated_error,
    update_name,
)
from podium.pool.fold import in_order
from podium.pool.rating import sent_results_of
from podium.pool.snapshot import Snapshot, are_counting
from podium.results.names import admit, is_page_address, normalise
from podium.store.following import PoolReader
from podium.store.writing.proposals import Act, Proposal
from podium.store.writing.submission import ends_of
from podium.support.words import counted
from podium.views.changes import career_of
from podium.views.details import DETAILS, details_by_account
from podium.views.names import accounts_of, number_of


def void_player(name: str) -> Act:
    """Void every rated event of a player, for example after a ban."""

    def propose(pool: PoolReader, actor: str, reason: str) -> Proposal:
        events = career_of(pool.snapshot, number_of(pool, name)).without_seasons.event_ids
        entries = (json_entry(event_id or "", None, actor, reason) for event_id in events)
        return Proposal(pool, VOID, tuple(entries))

    return propose


def merge(name: str, into: str, kind: str = "") -> Act:
    """Merge the results of two players, or of two pieces of equipment of the same kind.

    Returns:
        The act. Its answer is the number of changed rows of the ledger.

    Raises:
        UnknownError: a player has no rating.
        StoreError: the two accounts are the same, or one was already merged.
        ResultsError: the two took part in the same event, and it counts.
    """
    if kind:
        name, into = equipment_name(kind, name), equipment_name(kind, into)

    def propose(pool: PoolReader, actor: str, reason: str) -> Proposal:
        known, gone = known_numbers(pool, [name, into]), pool.snapshot.merged
        if name in known and gone.get(known[name]) == known.get(into, 0):
            return Proposal(pool, MERGE)
        for player in (name, into):
            if known.get(player) in gone:
                (stays,) = names_of(pool, [gone[known[player]]]).values()
                raise StoreError(f"{called(player)!r} was merged into {called(stays)!r}")
        for player in (into, name):
            is_known = player in known and (kind or pool.snapshot.standings.find([known[player]])[0] >= 0)
            if not is_known:
                raise unrated_error(pool, player)
        account, end = known[name], known[into]
        if account == end:
            raise StoreError(f"{called(name)!r} cannot be merged into itself")
        if not kind:  # any number of entrants in a race may use the same equipment
            refuse_meetings(pool.snapshot, accounts_of(pool, account), accounts_of(pool, end), into)
        entry = json_entry(str(account), {"into": end}, actor, reason)
        return Proposal(pool, MERGE, (entry,), refuses_unrateable=False)

    return propose


def unmerge(name: str, kind: str = "") -> Act:
    """Undo the merge of a player, or of a piece of equipment of a kind, as if it had never happened.

    Results that were sent under the account's name since the merge also belong to it. Accounts that were merged into it
    earlier stay merged.

    Returns:
        The act. Its answer is the number of changed rows of the ledger, or 0 if it was already separate.

    Raises:
        UnknownError: the player does not exist.
        StoreError: the account was never merged into another.
    """
    name = equipment_name(kind, name) if kind else name

    def propose(pool: PoolReader, actor: str, reason: str) -> Proposal:
        account, direct = known_numbers(pool, [name]).get(name), pool.snapshot.direct_merges
        if account is None:
            raise unrated_error(pool, name)
        if account not in direct:
            raise StoreError(
                f"{called(name)!r} was never merged into another {kind or 'player'}. There is nothing to undo."
            )
        if direct[account] is None:
            return Proposal(pool, UNMERGE)
        entry = json_entry(str(account), None, actor, reason)
        return Proposal(pool, UNMERGE, (entry,), refuses_unrateable=False)

    return propose


def set_starting_ratings(source: Any) -> Act:
    """Set players' starting ratings, and recalculate ratings from their first events on. Unknown players are added.

    Args:
        source: a file or table, as for `start` of `podium.rate`. Only its ratings and deviations count.
    """

    def propose(pool: PoolReader, actor: str, reason: str) -> Proposal:
        given, snapshot = read_start(source, pool.system), pool.snapshot
        players = given.players["player"].to_list()
        numbers, newcomers, known_names = provisional_numbers(pool, players)
        names = [name for name in ("rating", "deviation") if name in pool.system.state_type._fields]
        values = given.states[:, [pool.system.column(name) for name in names]].tolist()
        entries = []
        ends = ends_of(players, numbers, snapshot.merged)
        for number, row in dict(zip(ends, values, strict=True)).items():  # the last row of merged accounts counts
            start = dict(zip(names, row, strict=True))
            if snapshot.direct_starts.get(number) != (pool.system.name, start):
                entries.append(json_entry(str(number), start, actor, reason))
        return Proposal(pool, START, tuple(entries), newcomers=newcomers, names=known_names)

    return propose


def refuse_meetings(snapshot: Snapshot, accounts: Collection[int], others: Collection[int], name: str) -> None:
    """Raise an error if the accounts to merge are entrants of the same event, unless it does not count."""
    columns = snapshot.events.columns
    contents = np.intersect1d(snapshot.contents.with_players(accounts), snapshot.contents.with_players(others))
    uids = np.flatnonzero(are_counting(columns.part("status")) & np.isin(columns.part("content"), contents))
    if not uids.size:
        return
    table = sent_results_of(snapshot, uids[in_order(columns, uids)])
    either = table.filter(pl.col("player").is_in([str(number) for number in (*accounts, *others)]))
    heats = either["heat"].to_list() if "heat" in either.columns else repeat(None)
    sent = list(zip(either["uid"].to_list(), heats, map(int, either["player"].to_list()), strict=False))
    played = {(uid, heat) for uid, heat, player in sent if player in accounts}
    for uid, heat, player in sent:
        if player in others and (uid, heat) in played:
            raise MeetingError(
                name, snapshot.events.ids[uid], "; if the two accounts are one player, correct that event first"
            )


def rename(pool: PoolReader, name: str, new: str) -> int:
    """Rename a player or a piece of equipment, and return the number. The old name still finds it."""
    kind, bare = kind_and_name(new)
    new = equipment_name(kind, admit(bare, "a name")) if kind else admit(new, "a player's name")
    number = number_of(pool, name)
    taken = known_numbers(pool, [new]).get(new)
    if taken not in (None, number):
        raise StoreError(f"there is already a {kind or 'player'} {bare!r}. Merge the two if they are the same.")
    (old,) = names_of(pool, [number]).values()
    forget_alias(pool, new)
    give_back(pool, new)
    if old != new:
        forget_alias(pool, old)
        insert_aliases(pool, [(old, number)])
        update_name(pool, number, new)
    return number


def rename_player(pool: PoolReader, name: str, new: str, *, kind: str = "", actor: str = "") -> None:
    """Rename a player, or a piece of equipment of a `kind`. Results that use the old name still count for it.

    Raises:
        UnknownError: the pool, the player or the equipment does not exist.
        StoreError: the name belongs to another player or piece of equipment.
    """
    number = rename(pool, *(equipment_name(kind, part) if kind else part for part in (name, new)))
    append(pool, RENAME, [json_entry(str(number), None, actor)])  # names do not go into the log


def name_players(pool: PoolReader, names: Mapping[str, str], *, actor: str = "") -> list[str]:
    """Rename players from their IDs to the names in an import.

    Results that use the IDs still count for these players.

    Args:
        names: the names by ID. Players who are not in the pool are skipped.

    Returns:
        A sentence for each player who could not be renamed.
    """
    numbers = known_numbers(pool, list(names))
    present = names_of(pool, set(numbers.values()))
    entries, refusals = [], []
    for spelling, number in numbers.items():
        name = names[spelling]
        if normalise(name) == present[number]:
            continue
        try:
            renamed = rename(pool, spelling, name)
        except (StoreError, ParameterError) as error:
            refusals.append(f"{spelling} is not called {name!r}: {error}")
        else:
            entries.append(json_entry(str(renamed), None, actor))  # names do not go into the log
    append(pool, RENAME, entries)
    return refusals


class NewDetails(NamedTuple):
    """Changes of players' details."""

    changes: Mapping[int, tuple[dict[str, str], dict[str, str]]]  # by number, all details before and after
    errors: Sequence[PodiumError]  # for invalid details, which stay as they were


def take_details(pool: PoolReader, rows: Sequence[Mapping[str, Any]], *, actor: str = "") -> list[str]:
    """Set the details that came with results of players whom the pool knows. IDs and deleted names stay as they are.

    Returns:
        A sentence for each detail that is invalid, and stays as it was.
    """
    new = find_changes(pool, rows, known_numbers(pool, [row["player"] for row in rows]), keeps_ids=True)
    store_details(pool, new, actor)
    return [*map(str, new.errors)]


def preview_details(pool: PoolReader, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Preview the changes that `take_details` would make after the results of these players.

    Returns:
        A sentence with the number of players whose details would change, if any, and one for each invalid detail.
    """
    names = [row["player"] for row in rows]
    newcomers = {name: number for number, name in provisional_numbers(pool, names).newcomers.items()}
    new = find_changes(pool, rows, known_numbers(pool, names) | newcomers, keeps_ids=True)
    count = [f"details of {counted(len(new.changes), 'player')} would change"] if new.changes else []
    return [*count, *map(str, new.errors)]


def set_details(pool: PoolReader, rows: Sequence[Mapping[str, Any]], *, actor: str = "") -> int:
    """Set details of players, such as club and country, and IDs by which results may name them. No rating changes.

    Args:
        pool: the pool.
        rows: a dict for each player with `player` and any of `country`, `club`, `division`, `link`, `discord`, `steam`
            and `fide`. Missing and None values do not change, and an empty string removes a detail.
        actor: the sender, for the log.

    Returns:
        The number of players whose details have changed.

    Raises:
        ParameterError: a detail is unknown or invalid.
        StoreError: the ID belongs to another player.
    """
    names = admit_names(pool, [str(row.get("player")) for row in rows])
    named = [{**row, "player": name} for row, name in zip(rows, names, strict=True)]
    new = find_changes(pool, named, numbers_of(pool, names))
    if new.errors:
        raise new.errors[0]
    store_details(pool, new, actor)
    return len(new.changes)


def find_changes(
    pool: PoolReader, rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], *, keeps_ids: bool = False
) -> NewDetails:
    """Compare details with the stored ones.

    Args:
        pool: the pool.
        rows: the same as in `set_details`. Players without a number are skipped.
        numbers: the players' numbers, by name.
        keeps_ids: True if an ID cannot replace a different one.
    """
    given = [row for row in rows if row["player"] in numbers]
    players = ends_of([row["player"] for row in given], numbers, pool.snapshot.merged)
    known, errors = details_by_account(pool, players), list[PodiumError]()
    after = {player: known.get(player, {}) for player in players}
    has_owner = dict[str, bool]()  # by ID, after the changes so far

    def admit_detail(name: str, text: Any, former: str) -> str:
        value = valid_detail(name, text)
        if name not in IDS or value == former:
            return value
        if former and keeps_ids:
            raise StoreError(f"has a different {name} ID. An admin can change it.")
        alias = f"{name}:{value}"
        if value and has_owner.get(alias, bool(exact_numbers(pool, [alias]))):
            raise StoreError(f"{alias!r} is already another player. Merge the two if they are the same.")
        has_owner.update({f"{name}:{former}": False, alias: True})
        return value

    for player, row in zip(players, given, strict=True):
        for name, text in row.items():
            if name == "player" or text is None:
                continue
            try:
                value = admit_detail(name, text, after[player].get(name, ""))
            except (ParameterError, StoreError) as error:
                errors.append(type(error)(f"{row['player']}: {error}"))
            else:
                after[player] = {each: kept for each, kept in (after[player] | {name: value}).items() if kept}
    changes = {player: (known.get(player, {}), new) for player, new in after.items() if new != known.get(player, {})}
    return NewDetails(changes, errors)


def store_details(pool: PoolReader, new: NewDetails, actor: str) -> None:
    """Store details next to the log, IDs as names by which results may name a player, and an entry for each player."""
    entries, aliases = [], []
    for number, (before, after) in new.changes.items():
        fields = sorted(name for name in before | after if before.get(name) != after.get(name))
        for kind in {*IDS} & {*fields}:
            forget_alias(pool, f"{kind}:{before.get(kind, '')}")
            aliases += [(f"{kind}:{after[kind]}", number)] if kind in after else []
        body = {"fields": fields, "details": json.dumps(after, ensure_ascii=False)}
        entries.append(json_entry(str(number), body, actor))
    insert_aliases(pool, aliases)
    append(pool, DETAIL, entries)


def valid_detail(field: str, text: Any) -> str:
    if field not in (*DETAILS, *IDS):
        raise ParameterError(f"{field!r} is not a detail of a player. Use one of {', '.join((*DETAILS, *IDS))}.")
    value = str(text).strip()
    if field == "link" and value and not is_page_address(value):
        raise ParameterError(f"link: {value!r} is not the address of a page. Write it in full, with https://.")
    return admit(value, field) if value else ""
