"""Anonymize a player: remove every name of the player from the tables of a pool and from the texts of its log.

In the log, players appear as numbers, but titles, teams, IDs and other texts may mention a name. Such an entry is
redacted: its texts are replaced, but its hash in the chain stays. A `redact` entry stores hashes of the new content of
all redacted entries, so that later changes to them would be noticed.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import sqlalchemy as sa

from podium.log.content import lines_of
from podium.log.log import (
    ANONYMIZE,
    CANCEL,
    DESCRIBE,
    DETAIL,
    GENESIS,
    HASHED,
    PLAN,
    REDACT,
    REGISTER,
    SEAL,
    SEASON,
    SELECT_REASONS,
    UNVOID,
    VOID,
    WITH_CONTENT,
    append,
    blank_all,
    chained_entries,
    entry_hash,
    json_entry,
)
from podium.log.players import (
    DELETE_ALIASES,
    keep_removed,
    known_numbers,
    names_of,
    update_name,
)
from podium.log.schema import (
    api_key,
    brought,
    log,
    report,
    running,
    sheet,
    title,
    waiting,
)
from podium.log.statements import of_pool
from podium.results.derived_heats import OVERALL, heat_key
from podium.results.mentions import Mentions
from podium.store.following import PoolReader
from podium.store.writing.reports import DELETE_LINK, SELECT_REPORTS
from podium.support.answers import answer
from podium.support.words import counted
from podium.views.names import accounts_of, names_had, number_of

OF_EVENTS = (*WITH_CONTENT, VOID, UNVOID, CANCEL)
# words at the start of new IDs
WORDS = dict.fromkeys(OF_EVENTS, "event") | {REGISTER: "match", PLAN: "race", SEASON: "season"}
TEXTS, LABELS = ("title", "url", "contact", "player_word", "points_scheme", "display"), ("team", "awards")
IDS = (running, "race_id"), (brought, "event_id")
COPIES = (
    "Copies made earlier keep the name: backups, exports, static sites, sheets, and messages sent by feeds and "
    "webhooks. So do the names of other players, cars, clubs and pools."
)
REDACTED = ("subject", "body", "actor", "match_id")
UPDATE_ENTRY = (
    sa.update(log)
    .where(of_pool(log), log.c.place == sa.bindparam("at"))
    .values({name: sa.bindparam(f"new_{name}") for name in REDACTED})
)
UPDATE_TITLE = sa.update(title).where(of_pool(title), title.c.seq == sa.bindparam("entry"))
MOVE_TITLE = UPDATE_TITLE.values(at=sa.bindparam("new_at"))
BLANK_TITLE = UPDATE_TITLE.values(salt=b"", text=b"")
dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
SELECT_SUBJECT = sa.select(log.c.seq).where(of_pool(log), log.c.subject == sa.bindparam("subject")).limit(1)


@answer
class Anonymization:
    """The replacements that anonymize a player.

    Attributes:
        player: The player's current name.
        name: The player's new name.
        ids: New IDs of events, matches, fixtures and seasons whose IDs contain a name, listed by old ID.
        entries: Number of log entries with a title, team, ID or other text that mentions a name.
        reasons: Number of reasons that mention a name. Their texts are deleted.
    """

    player: str
    name: str
    ids: dict[str, str]
    entries: int
    reasons: int

    def __str__(self) -> str:
        """Describe the replacements, and the texts that stay."""
        found = counted(len(self.ids), "id"), counted(self.entries, "log entry"), counted(self.reasons, "reason")
        return f"The name is in {', '.join(found)}. {COPIES}"


class Redaction:
    """The log entries that mention names, and the replacements for their texts."""

    def __init__(self, pool: PoolReader, names: Mapping[str, int], number: int) -> None:
        self.pool, self.mentions = pool, Mentions(names)
        mentions, accounts = self.mentions, {*map(str, accounts_of(pool, number))}
        self.ids: dict[str, str] = {}
        self.entries: dict[int, dict[str, Any]] = {}  # new values of columns, by place
        self.hashes: dict[int, str] = {}
        self.titles: list[tuple[int, int]] = []
        self.moved: list[dict[str, int]] = []  # positions of the hashes of titles in redacted entries
        previous = GENESIS
        for row in chained_entries(pool):
            texts = row.subject, row.match_id or "", row.actor, row.body.decode()
            if mentions.may_be_in("\n".join(texts)):
                self._look_at(row, previous)
            if row.title and row.kind == DETAIL and row.subject in accounts:
                self.titles.append((row.seq, row.place))
            elif row.title and mentions.may_be_in(row.title.decode()):
                texts = json.loads(b"{" + row.title[1:] + b"}").values()
                self.titles += [(row.seq, row.place)] if any(text in mentions for text in texts) else []
            previous = row.hash
        rows = pool.execute(SELECT_REASONS).all()
        self.reasons = [(row.seq, row.place) for row in rows if row.text in mentions]

    def _look_at(self, row: Any, previous: bytes) -> None:
        columns = {name: getattr(row, name) for name in HASHED}
        new: dict[str, Any] = {
            "subject": self._public_id(row, row.subject, WORDS[row.kind]) if row.kind in WORDS else row.subject,
            "match_id": row.match_id and self._public_id(row, row.match_id, "match"),
            "actor": "anonymized" if row.actor in self.mentions else row.actor,
            "body": self._body(row),
        }
        if any(columns[name] != value for name, value in new.items()):
            self.entries[row.place] = new
            self.moved += [{"entry": row.seq, "new_at": new["body"].find(SEAL)}] if row.title else []
            self.hashes[row.place] = entry_hash(previous, (columns | new).values()).hex()

    def _public_id(self, row: Any, text: str, word: str) -> str:
        """Return the replacement for an ID that contains a name. Other IDs are returned unchanged."""
        if text not in self.ids and text in self.mentions:
            new = f"{word} {row.place}"
            while self.pool.execute(SELECT_SUBJECT, subject=new).first() is not None or new in self.ids.values():
                new += "'"
            self.ids[text] = new
        return self.ids.get(text, text)

    def _body(self, row: Any) -> bytes:
        text, labels = row.body.decode(), dict[tuple[str, str], str]()
        if row.kind in WITH_CONTENT:
            lines = (self._without(line, None, text, labels) for line in self._with_heats(lines_of(row.body)))
            kept = ({name: value for name, value in line.items() if value is not None} for line in lines)
            return "".join(dumps(part) + "\n" for part in kept).encode()
        if row.kind not in (PLAN, REGISTER, DESCRIBE):
            return bytes(row.body)
        empty = "" if row.kind == DESCRIBE else None
        return dumps(self._without(json.loads(text), empty, text, labels)).encode()

    def _with_heats(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return an event's lines. If a heat mentions a name, rename all heats, but keep their order."""
        heats = sorted({line["heat"] for line in lines if "heat" in line} - {OVERALL}, key=heat_key)
        if not any(heat in self.mentions for heat in heats):
            return lines
        new = {heat: f"heat {k:0{len(str(len(heats)))}}" for k, heat in enumerate(heats, 1)} | {OVERALL: OVERALL}
        return [line | {"heat": new[line["heat"]]} if "heat" in line else line for line in lines]

    def _without(self, item: Any, empty: str | None, text: str, labels: dict[tuple[str, str], str]) -> Any:
        """Return a part of a body without the texts and labels that mention a name."""
        if isinstance(item, list):
            return [self._without(part, empty, text, labels) for part in item]
        if not isinstance(item, dict):
            return item
        found = {}
        for name, value in item.items():
            if name == "event_id":
                found[name] = self.ids.get(value, value)
            elif not isinstance(value, str) or name not in (*TEXTS, *LABELS) or value not in self.mentions:
                found[name] = self._without(value, empty, text, labels)
            elif name in TEXTS:
                found[name] = empty
            else:
                found[name] = labels.setdefault((name, value), self._label(name, text, labels.values()))
        return found

    @staticmethod
    def _label(name: str, text: str, taken: Collection[str]) -> str:
        """Return a label that is unique among the teams or awards in the entry.

        Ratings depend only on which labels are equal.
        """
        labels = (f"{name} {k}" for k in count(1))
        return next(label for label in labels if label not in taken and f'"{label}"' not in text)

    def write(self, actor: str) -> None:
        """Store the redactions. The transaction must hold the pool's lock."""
        pool, connection = self.pool, self.pool.connection
        if self.entries:
            append(pool, REDACT, [json_entry("", {"hashes": self.hashes}, actor)])
            rows = [
                {"pool": pool.id, "at": place} | {f"new_{name}": value for name, value in new.items()}
                for place, new in self.entries.items()
            ]
            connection.execute(UPDATE_ENTRY, rows)
        ids = [{"pool": pool.id, "old": old, "new": new} for old, new in self.ids.items()]
        for table, column in IDS if ids else ():
            update = sa.update(table).where(of_pool(table), table.c[column] == sa.bindparam("old"))
            connection.execute(update.values({column: sa.bindparam("new")}), ids)
        self._write_reports()
        self._write_sheets()
        for statement, rows in ((MOVE_TITLE, self.moved), (BLANK_TITLE, [{"entry": seq} for seq, _ in self.titles])):
            if rows:
                connection.execute(statement, [{"pool": pool.id} | row for row in rows])
        texts: Any = {name: "" for name in TEXTS if getattr(pool.description, name, "") in self.mentions}
        pool.update(**replace(pool.description, **texts).columns())
        of_this = sa.or_(api_key.c.pool.is_(None), api_key.c.pool == pool.name)
        for number, name in connection.execute(sa.select(api_key.c.id, api_key.c.name).where(of_this)).all():
            if name in self.mentions:
                connection.execute(sa.update(api_key).where(api_key.c.id == number).values(name=f"key {number}"))
        connection.execute(sa.delete(waiting))  # files stored in the last hour may contain the name in any form
        blank_all(pool, [*dict.fromkeys([*self.reasons, *self.titles])], actor)

    def _mentioning(self, table: sa.Table, column: str) -> list[str]:
        """Return the texts in a column that mention a name."""
        found = self.pool.execute(sa.select(table.c[column]).where(of_pool(table)).distinct()).scalars().all()
        return [text for text in found if text and text in self.mentions]

    def _update(self, table: sa.Table, condition: Any, **values: Any) -> None:
        self.pool.connection.execute(sa.update(table).where(table.c.pool_id == self.pool.id, condition).values(values))

    def _write_reports(self) -> None:
        for report_id, _, _, text in (row[1:] for row in self.pool.execute(SELECT_REPORTS)):
            body = json.loads(text)
            new = self._without(body, None, text, {})
            if new != body:
                self._update(report, report.c.report_id == report_id, body=json.dumps(new))

    def _write_sheets(self) -> None:
        for text in self._mentioning(brought, "own_id"):
            self._update(brought, brought.c.own_id == text, own_id=brought.c.event_id)
        for text in self._mentioning(sheet, "map"):
            self._update(sheet, sheet.c.map == text, map="")
        for name in self._mentioning(sheet, "name"):
            names = self.pool.execute(sa.select(sheet.c.name).where(of_pool(sheet))).scalars().all()
            new = next(label for label in map("sheet {}".format, count(1)) if label not in names)
            of_name = sheet.c.pool_id == self.pool.id, sheet.c.name == name
            row = sa.select(sheet.c.pool_id, sa.literal(new), sheet.c.map).where(*of_name)
            self.pool.connection.execute(sa.insert(sheet).from_select(["pool_id", "name", "map"], row))
            self._update(brought, brought.c.sheet == name, sheet=new)
            self.pool.connection.execute(sa.delete(sheet).where(*of_name))
            self.ids[name] = new


def names_removed(pool: PoolReader, number: int) -> dict[str, int]:
    """Return every name that a player, or an account merged into the player, has or had, with the account."""
    return {name: account for name, account in names_had(pool, number) if name != pseudonym(pool, account)}


def pseudonym(pool: PoolReader, account: int) -> str:
    name = f"player {account}"
    while known_numbers(pool, [name]).get(name, account) != account:
        name += "'"
    return name


def anonymization(pool: PoolReader, name: str) -> Anonymization:
    """Preview the replacements that would anonymize a player. Nothing is stored.

    Returns:
        The new name, the new IDs of events, and the number of entries and reasons that mention a name.

    Raises:
        UnknownError: the pool or the player does not exist.
    """
    number = number_of(pool, name)
    found = Redaction(pool, names_removed(pool, number), number)
    (current,) = names_of(pool, [number]).values()
    entries = found.entries.keys() | {place for _, place in found.titles}
    return Anonymization(current, pseudonym(pool, number), found.ids, len(entries), len(found.reasons))


def anonymize(pool: PoolReader, name: str, *, actor: str = "") -> str:
    """Remove every name that a player has had, including those in titles, IDs and other texts. Ratings do not change.

    Returns:
        The player's new name.

    Raises:
        UnknownError: the pool or the player does not exist.
    """
    number = number_of(pool, name)
    names = names_removed(pool, number)
    found = Redaction(pool, names, number)
    actor = "anonymized" if actor in found.mentions else actor
    for account in accounts_of(pool, number):
        new = pseudonym(pool, account)
        for statement in (DELETE_ALIASES, DELETE_LINK):
            pool.connection.execute(statement, {"pool": pool.id, "player": account})
        update_name(pool, account, new)
    append(pool, ANONYMIZE, [json_entry(str(number), None, actor)])
    found.write(actor)
    keep_removed(pool, names, found.ids, found.mentions.forms)
    return names_of(pool, [number])[number]
