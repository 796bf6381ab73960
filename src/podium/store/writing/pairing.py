"""Which event of the pool each event of a sheet is that is sent again."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from podium.log.pools import DATED
from podium.store.following import PoolReader
from podium.store.writing import submission
from podium.store.writing.proposals import Sheet
from podium.store.writing.sheets import COUNT, Sent, Stored, contents_brought, equal_pairs, pair_equal, players_in


def pair(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent], stored: Sequence[Stored]) -> None:
    """Find the event of the pool that each of a sheet is.

    That of its id, where the content is the same; else among those whose ids differ in their count alone, in their
    order; else one that is the same but for its id; else one that is the same but for its id and its date.
    """
    left = sorted(stored, key=lambda each: each.is_live, reverse=True)
    if sheet.made:
        pair_equal(sent, [each for each in left if each.is_live], lambda each: contents_brought(pool, each))
        for one in sent:
            one.is_same = one.stored is not None and has_content(pool, one, one.stored)
        left = [each for each in left if each not in {one.stored for one in sent}]
    for find in (by_count, by_lines) if sheet.made else (by_id, by_count, by_content, by_lines):
        alone = [one for one in sent if one.stored is None]
        for one, other in [*find(pool, sheet, alone, left)]:
            one.stored, one.is_same = other, has_content(pool, one, other)
        paired = {one.stored for one in sent}
        left = [each for each in left if each not in paired]


Pairs = Iterable[tuple[Sent, Stored]]


def by_id(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent], left: list[Stored]) -> Pairs:
    """Events of one id and content."""
    known = {each.own_id: each for each in reversed(left)}
    for one in sent:
        other = known.get(one.own_id) or known.get(sheet.prefix + one.own_id)
        if other is not None and has_content(pool, one, other):
            yield one, other


def by_count(pool: PoolReader, sheet: Sheet, sent: list[Sent], left: list[Stored]) -> Pairs:
    """Events whose ids differ in their count alone: those that are the same, then those of one id, then the others.

    If Podium made the ids of names, those of one date and the same players are compared instead.
    """
    are_names = any(name in one.own_id for one in sent if one.own_id in sheet.made for name in one.content.names)
    groups = defaultdict[Any, tuple[list[Sent], list[Stored]]](lambda: ([], []))
    for one in sent:
        by_players = one.content.started_at, players_in(one.lines)
        groups[by_players if are_names else COUNT.sub("", one.own_id)][0].append(one)
    is_placed = any(one.content.order for one in sent)
    for other in sorted(left, key=lambda each: each.event.key):
        by_players = other.event.started_at if is_placed else 0, players_in(other.lines)
        groups[by_players if are_names else COUNT.sub("", other.own_id.removeprefix(sheet.prefix))][1].append(other)
    for ours, theirs in groups.values():
        keys = [each.lines for each in theirs], [each.lines for each in ours]
        for kind, a, end_a, b, end_b in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
            if kind == "equal":
                yield from zip(ours[b:end_b], theirs[a:end_a], strict=True)
            elif kind == "replace":
                known = {each.own_id: each for each in theirs[a:end_a]}
                rest = [each for each in ours[b:end_b] if each.own_id not in known]
                yield from ((each, known.pop(each.own_id)) for each in ours[b:end_b] if each.own_id in known)
                yield from zip(rest, known.values(), strict=False)


def by_content(pool: PoolReader, _sheet: Sheet, sent: list[Sent], left: list[Stored], *, dated: bool = True) -> Pairs:
    """Events that are the same but for their ids, in their order."""
    live = [(each, (each.event.started_at, each.lines)) for each in left if each.is_live]
    return equal_pairs(sent, live, is_placed=dated and any(one.content.order for one in sent))


by_lines = partial(by_content, dated=False)  # but for their ids and dates


def has_content(pool: PoolReader, one: Sent, other: Stored) -> bool:
    """Whether an event has the content that a sheet has, whatever it is called there."""
    content = one.content.renamed(other.event.event_id)
    if content.order is not None and content.started_at != other.event.started_at:
        return False
    if one.lines == other.lines or other.digest in [
        each.digest(pool.secret) for each in (content, content.sent) if each
    ]:
        return True
    at = content.at(pool.order or DATED, other.event.started_at)
    return other.event.match_id is not None and submission.has_content(pool, other.event, at)
