"""Export a pool from one database as lines of JSON, and import it into another.

The imported pool is rated again, and keeps the head of its log.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import polars as pl
import sqlalchemy as sa

from podium.engine.tables.equipment import equipment_name, kind_and_name
from podium.log import chain
from podium.log import log as entries
from podium.log.content import lines_of, numbers_in
from podium.log.database import StoreError
from podium.log.log import GENESIS, HASHED, Head, chained_entries, entry_hash, newest_head, reason_hash
from podium.log.players import equipment_of, insert_aliases, insert_players, names_of
from podium.log.pools import Pool, PoolView, get_pool, settings_of, system_of
from podium.log.schema import alias, brought, log, reason, report, sheet, title
from podium.log.statements import insert, is_equipment, of_pool
from podium.pool.snapshot import Snapshot, count_counting
from podium.store.following import PoolReader, replay
from podium.store.writing.administration import configuration, insert_pool
from podium.store.writing.proposals import store_witness
from podium.store.writing.reports import SELECT_REPORTS, restart_hours
from podium.support.words import counted
from podium.version import ARITHMETIC, __version__

FORMAT = 1  # version of the format
CHUNK_LINES = 1_000  # number of lines to write at once
UNREADABLE = (  # errors from fields that match their hashes but have invalid content
    sa.exc.IntegrityError,
    sa.exc.DataError,
    LookupError,
    TypeError,
    ValueError,
    OverflowError,
    pl.exceptions.PolarsError,
)
HEADER = {
    "podium_pool": int, "version": str, "pool": str, "system": str, "parameters": dict, "players": int, "entries": int,
    "head": dict, "days": list, "things": int | None, "arithmetic": int | None,
}  # fmt: skip
# fields that are missing in files of earlier versions, or for players
NEWER = ("things", "kind", "arithmetic", "rating", "title")
PLAYER = {"player": int, "name": str, "former": list, "kind": str | None, "rating": float | None}
ENTRY = {
    "place": int, "received_at": str, "kind": str, "actor": str, "subject": str, "body": str,
    "match_id": str | None, "present": int | None, "reason_hash": str | None, "reason": dict | None,
    "title": dict | None, "hash": str,
}  # fmt: skip


class Imported(NamedTuple):
    pool: str
    head: Head
    events: int
    changes: int  # number of rows in the ledger
    moved: int | None  # number of ratings that differ from the file's; None if the file has no ratings
    revisions: str = ""  # revisions of the arithmetic in the file and here, as text; empty if they are the same

    @property
    def notice(self) -> str:
        """A sentence about ratings that differ from the file's, usually because of another revision of the arithmetic.

        It is empty if no rating can differ.
        """
        if not self.revisions and self.moved:
            differ = "1 rating in the file differs" if self.moved == 1 else f"{self.moved:,} ratings in the file differ"
            return f"{differ} from its log. The pool has the ratings of the log."
        if not self.revisions:
            return ""
        moved = "ratings may have moved" if self.moved is None else f"{counted(self.moved, 'rating')} moved"
        return f"{self.revisions}: {moved}."


class Line(NamedTuple):
    where: str
    fields: dict[str, Any]


def import_lines(connection: sa.Connection, lines: Iterable[str], source: str, name: str | None) -> Imported:
    numbered = (Line(f"{source}, line {number}", parse(source, number, line)) for number, line in enumerate(lines, 1))
    header = checked(next(numbered, Line(f"{source}, line 1", {})), HEADER)
    if header["podium_pool"] != FORMAT:
        raise StoreError(f"{source}: has format {header['podium_pool']}, but this version of Podium reads {FORMAT}")
    system = system_of(header["system"], json.dumps(header["parameters"]))
    pool = insert_pool(connection, header["pool"] if name is None else name, system)
    try:
        ratings = import_players(pool, numbered, header["players"] + (header.get("things") or 0))
        numbers = {*ratings}
        head = import_log(pool, numbered, numbers)
        if (head.place, head.hash) != (header["entries"], header["head"].get("hash")):
            raise StoreError(f"{source}: ends with log entry {head.place}, but its first line says {header['entries']}")
        pool = get_pool(connection, pool.name)
        import_sheets(pool, header.get("sheets", []))
        insert(connection, report, [(pool.id, *columns) for columns in header.get("reports", [])])
        restart_hours(connection, report.c.pool_id == pool.id)
        replayed = replay(pool)
        pool.update(**settings_columns(replayed.pool))
        store_witness(pool, replayed)
    except UNREADABLE as error:
        why = str(getattr(error, "orig", None) or error).partition("\n")[0]
        raise StoreError(f"{source}: is not the log of a pool ({type(error).__name__}: {why})") from error
    revisions = revisions_in_words(header)
    now = current_ratings(replayed)
    moved = sum(now.get(number) != before for number, before in ratings.items()) if header.get("arithmetic") else None
    return Imported(pool.name, head, count_counting(replayed), replayed.rows.size, moved, revisions)


def revisions_in_words(header: Mapping[str, Any]) -> str:
    revision = header.get("arithmetic")
    if revision == ARITHMETIC:
        return ""
    written = f"revision {revision}" if revision else "an unknown revision"
    return (
        f"The file was rated by {written} of the arithmetic (Podium {header['version']}); this version of Podium has "
        f"{ARITHMETIC}"
    )


def current_ratings(snapshot: Snapshot) -> dict[int, float]:
    standings = snapshot.standings
    return dict(zip(standings.numbers.tolist(), standings.ratings.tolist(), strict=True))


def settings_columns(pool: Pool) -> dict[str, Any]:
    """Return the columns of a pool's row that are derived from its log."""
    return configuration(pool.system) | {"closed": pool.closed} | pool.description.columns()


def parse(source: str, number: int, text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise StoreError(f"{source}, line {number}: this is not a JSON object. Use a file from `podium pool export`.")
    return fields


def checked(line: Line, kinds: Mapping[str, Any]) -> dict[str, Any]:
    for name, kind in kinds.items():
        value = line.fields.get(name, None if name in NEWER else ...)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise StoreError(
                f"{line.where}: {name} is missing or invalid. Use an unchanged file from `podium pool export`."
            )
    return line.fields


def import_players(pool: PoolView, lines: Iterator[Line], count: int) -> dict[int, float | None]:
    """Store the players and equipment from a file. Return the file's rating for each number."""
    ratings: dict[int, float | None] = {}
    for chunk in chunks((checked(line, PLAYER) for _, line in zip(range(count), lines, strict=False))):
        names = [(record["player"], name, former) for record in chunk for name, *former in [names_in(record)]]
        ratings |= {record["player"]: record.get("rating") for record in chunk}
        insert_players(pool, ((number, name) for number, name, _ in names))
        insert_aliases(pool, ((name, number) for number, _, former in names for name in former))
    return ratings


def names_in(fields: Mapping[str, Any]) -> list[str]:
    """Return the current and former names of the player or piece of equipment in a line."""
    kind = fields.get("kind")
    if is_equipment(fields["player"]) != (kind is not None):
        raise ValueError(f"{fields['player']} is not the number of a {kind or 'player'}")
    names = [fields["name"], *fields["former"]]
    return [equipment_name(kind, name) for name in names] if kind else names


def import_log(pool: PoolView, lines: Iterator[Line], numbers: set[int]) -> Head:
    place, previous, others = 0, GENESIS, dict[int, tuple[str, bytes]]()
    changed: chain.Redactions = {}
    for chunk in chunks(lines):
        rows, reasons, titles = [], [], []
        seqs = entries.draw_numbers(pool.connection, len(chunk))
        for (where, _), fields, seq in zip(chunk, (checked(line, ENTRY) for line in chunk), seqs, strict=True):
            place += 1
            row = entry_row(where, fields, numbers) | {"pool_id": pool.id, "seq": seq}
            expected, previous = entry_hash(previous, (row[name] for name in HASHED)), row["hash"]
            if row["place"] != place:
                raise broken(where, place)
            others |= {place: (where, expected)} if previous != expected else {}
            changed |= chain.redacted(row["body"]) if row["kind"] == entries.REDACT else {}
            rows.append(row)
            if fields["reason"] is not None:
                salt, text = bytes.fromhex(fields["reason"]["salt"]), fields["reason"]["text"]
                if reason_hash(salt, text).hex() != fields["reason_hash"]:
                    raise StoreError(f"{where}: the reason was altered. Export the pool again.")
                reasons.append((pool.id, seq, salt, text))
            titles += [(pool.id, seq, *title_of(where, fields))] if fields.get("title") else []
        insert(pool.connection, log, map(itemgetter(*log.columns.keys()), rows))
        insert(pool.connection, reason, reasons)
        insert(pool.connection, title, titles)
    altered = ((where, label) for label, (where, expected) in others.items() if changed.get(label) != expected)
    for where, fault in altered:
        raise broken(where, fault)
    return Head(place, previous.hex())


def title_of(where: str, fields: Mapping[str, Any]) -> tuple[bytes, bytes, int]:
    """Return the salt and the text of an entry's title, and the position of the title's hash in the body."""
    salt, text = bytes.fromhex(fields["title"]["salt"]), fields["title"]["text"].encode()
    body = fields["body"].encode()
    at = body.find(entries.SEAL)
    if at < 0 or (text and not body.startswith(entries.seal(salt, text), at)):
        raise StoreError(f"{where}: the title was altered. Export the pool again.")
    return salt, text, at


def broken(where: str, place: int) -> StoreError:
    return StoreError(
        f"{where}: the chain is broken, because log entry {place} was altered, removed or moved. Export the pool again."
    )


def entry_row(where: str, fields: Mapping[str, Any], numbers: set[int]) -> dict[str, Any]:
    if fields["kind"] not in entries.KINDS:
        raise StoreError(
            f"{where}: this version does not support log entries of kind {fields['kind']!r}. Upgrade Podium: pip "
            "install --upgrade podium"
        )
    row = {name: value for name, value in fields.items() if name in ENTRY and name not in ("reason", "title")}
    row |= {"body": fields["body"].encode(), "hash": bytes.fromhex(fields["hash"]), "digest": b""}
    if fields["reason_hash"] is not None:
        row["reason_hash"] = bytes.fromhex(fields["reason_hash"])
    if fields["kind"] in entries.WITH_CONTENT and not numbers_in(lines_of(row["body"])) <= numbers:
        raise StoreError(f"{where}: a player or piece of equipment is missing from the file. Export the pool again.")
    return row


def import_sheets(pool: PoolView, kept: Iterable[Mapping[str, Any]]) -> None:
    """Store the sheets, and the events that came from each. The file identifies contents by their places in the log."""
    numbers = sa.select(log.c.place, log.c.seq).where(log.c.pool_id == pool.id)
    seqs = dict(pool.execute(numbers).all()) if kept else {}
    for record in kept:
        pool.connection.execute(sa.insert(sheet), {"pool_id": pool.id, "name": record["name"], "map": record["map"]})
        events = ((event_id, own_id, seqs[place], bool(gone)) for event_id, own_id, place, gone in record["events"])
        insert(pool.connection, brought, [(pool.id, record["name"], *row) for row in events])


def exported_sheets(pool: PoolView) -> list[dict[str, Any]]:
    rows = pool.execute(sa.select(sheet.c.name, sheet.c.map).where(sheet.c.pool_id == pool.id).order_by("name"))
    found: dict[str, dict[str, Any]] = {row.name: {"name": row.name, "map": row.map, "events": []} for row in rows}
    for name, *event in pool.execute(SELECT_BROUGHT):
        found[name]["events"].append(event)
    return [*found.values()]


def chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, CHUNK_LINES)):
        yield chunk


SELECT_BROUGHT = (
    sa.select(brought.c.sheet, brought.c.event_id, brought.c.own_id, log.c.place, brought.c.is_gone)
    .join(log, log.c.seq == brought.c.content_seq)
    .where(of_pool(brought))
    .order_by(brought.c.sheet, log.c.place)
)
SELECT_FORMER_NAMES = sa.select(alias.c.name, alias.c.player_id).where(of_pool(alias)).order_by(alias.c.name)


def export_lines(pool: PoolReader) -> Iterator[str]:
    """Yield a header, and then one line per player, per piece of equipment, and per log entry."""
    head, names, equipment = newest_head(pool), names_of(pool), equipment_of(pool)
    former: dict[int, list[str]] = {}
    ratings = current_ratings(pool.snapshot)
    for row in pool.execute(SELECT_FORMER_NAMES):
        former.setdefault(row.player_id, []).append(row.name)
    yield line(
        {
            "podium_pool": FORMAT,
            "version": __version__,
            "pool": pool.name,
            "system": pool.system.name,
            "parameters": settings_of(pool.system),
            "players": len(names),
            **({"things": len(equipment)} if equipment else {}),
            "arithmetic": pool.arithmetic,
            "entries": head.place,
            "head": {"place": head.place, "hash": head.hash},
            "days": [],  # earlier versions stored their ranks
            "sheets": exported_sheets(pool),
            "reports": [[*row[1:]] for row in pool.execute(SELECT_REPORTS)],
        }
    )
    for number, name in sorted((names | equipment).items()):
        (kind, own), *others = map(kind_and_name, [name, *former.get(number, [])])
        fields = {"player": number, "name": own, "former": [line for _, line in others]}
        yield line(fields | ({"kind": kind} if kind else {}) | {"rating": ratings.get(number)})
    reasons = {row.seq: row for row in pool.execute(chain.SELECT_HASHED_REASONS)}
    last, changed = chain.Checked(0, 0, (GENESIS,)), chain.redactions(pool)
    for row in chained_entries(pool):
        in_place = row.place == last.place + 1
        last, fits = chain.follow(last, row, changed)
        if not (in_place and fits):
            where = f"pool {pool.name!r}: the chain is broken at log entry {row.place} ({chain.describe(row)})"
            raise StoreError(f"{where}. Find the cause with `podium verify`.")
        yield line(entry_fields(row, reasons.get(row.seq)))


def entry_fields(row: Any, given: Any) -> dict[str, Any]:
    written = {
        "body": row.body.decode(),
        "reason_hash": None if row.reason_hash is None else row.reason_hash.hex(),
        "reason": None if given is None else {"salt": given.salt.hex(), "text": given.text},
        "title": None if row.title is None else {"salt": row.title_salt.hex(), "text": row.title.decode()},
        "hash": row.hash.hex(),
    }
    return {name: written[name] if name in written else getattr(row, name) for name in ENTRY}


def line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"
