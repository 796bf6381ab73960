"""The log's hash chain reveals every altered, removed, added or moved entry. Reasons can be blanked."""

import hashlib
import hmac
from contextlib import closing
from dataclasses import asdict
from itertools import pairwise

import pytest
import sqlalchemy as sa
from races import calling, event, rows

import podium
from podium.log import chain as chain_check
from podium.log.content import column_lists, contents_in, digests_of
from podium.log.database import StoreError
from podium.log.log import (
    GENESIS,
    HASHED,
    Head,
    chained_entries,
    entry_hash,
    keyed_digest,
    newest_head,
    reason_hash,
)
from podium.log.pools import get_pool
from podium.log.schema import log, pools, reason, witness
from podium.systems import find

LINKED = {"seq", "pool_id", "digest", *HASHED, "hash"}
both_kinds = pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def kind(request):
    return getattr(request, "param", "sqlite")


def fill(store):
    """Fill a pool whose log uses every column, and another pool."""
    store.create_pool("other", find("elo")(), actor="admin")
    store.create_pool("main", find("elo")(), actor="admin")
    store.register("main", "m", ["ana", "ben", "cleo"])
    store.submit("main", rows(1, ["ana", "ben"]), actor="server", match_ids={"e1": "m"})
    store.submit("main", [*rows(2, ["ben", "ana"]), *rows(3, ["cleo", "ana"])], actor="server")
    store.amend("main", rows(2, ["ana", "ben"]), actor="admin", reason="ben had left")
    store.rename("main", "cleo", "Cléo")
    store.void("main", "e3", actor="admin")


@pytest.fixture
def filled(kind, filled_store):
    with closing(filled_store(kind, fill)) as opened:
        yield opened


def faults(connection, names=("main",)):
    """Return the errors in the chains of these pools."""
    found = (chain_check.chain_faults(get_pool(connection, name)) for name in names)
    return [sentence for each in found for sentence in each]


def entries(store):
    """Return the entries of the pool's log in order."""
    with store.engine.begin() as connection:
        return list(chained_entries(get_pool(connection, "main")))


def altered(value):
    match value:
        case None:
            return b"\1" * 32
        case bytes():
            return value[:-1] + bytes([value[-1] ^ 1]) if value else b"{}"
        case int():
            return value + 1000
        case str():
            return "x" + value[1:]


def altered_columns(every, _other):
    """Alter every column of every entry except the number, which only orders, and the digest of repeats."""
    for row in every:
        for name in (*HASHED, "hash"):
            value = getattr(row, name)
            new = {"match_id": "m", "present": 2}[name] if value is None and name != "reason_hash" else altered(value)
            yield [set_columns(row, {name: new})], [f"number {row.seq}, "]


def removed_entries(every, _other):
    """Remove each entry but the last, and several at once."""
    for row in every[:-1]:
        removed = sa.delete(log).where(log.c.seq == row.seq)
        yield [removed], [f"log entry {row.place} was removed before log entry {row.place + 1} "]
    yield (
        [sa.delete(log).where(log.c.place.between(3, 5), log.c.pool_id == IN_MAIN)],
        ["log entries 3 to 5 were removed before log entry 6 "],
    )


def swapped_entries(every, _other):
    """Swap neighbours with their links, which keeps the chain valid, and without them."""
    for one, two in pairwise(every):
        moves = [(one.seq, -1), (two.seq, one.seq), (-1, two.seq)]
        with_links = [sa.update(log).where(log.c.seq == old).values(seq=new) for old, new in moves]
        moved = f"was moved: it comes before entry {one.place}, which has the number {two.seq}"
        yield with_links, [f"log entry {two.place} (number {one.seq}, ", moved]
        contents = [{name: getattr(row, name) for name in HASHED if name != "place"} for row in (two, one)]
        without_links = [set_columns(row, content) for row, content in zip((one, two), contents, strict=True)]
        yield without_links, [f"log entry {one.place} (", f"log entry {two.place} ("]


def added_entries(every, other):
    """Add an entry without a link, and an entry of another pool."""
    last = every[-1]
    row = {name: getattr(every[3], name) for name in HASHED} | {"digest": b"", "pool_id": IN_MAIN}
    row |= {"seq": last.seq, "place": None, "hash": None}
    added = f"a log entry (number {last.seq}, submit of 'e2') was added: it is not in the chain"
    yield [set_columns(last, {"seq": last.seq + 10}), sa.insert(log).values(row)], [added]
    yield (
        [set_columns(every[1], {"pool_id": other})],
        [
            f"log entry 2 (number {every[1].seq}, register of 'm') was altered",
            "log entry 2 was removed before log entry 3",
        ],
    )


def altered_reasons(every, _other):
    """Alter a reason's text, its salt and its entry, and remove it."""
    entry = f"the reason of log entry 6 (number {every[5].seq}, amend of 'e2') was "
    yield [sa.update(reason).values(text="ben is dull")], [f"{entry}altered"]
    yield [sa.update(reason).values(salt=b"")], [f"{entry}altered"]
    yield [sa.delete(reason)], [f"{entry}removed, but no entry of the log says that it was blanked"]
    moved = [f"the reason of log entry 7 (number {every[6].seq}, rename of '3') was altered", f"{entry}removed"]
    yield [sa.update(reason).values(seq=every[6].seq)], moved
    yield [sa.update(reason).values(seq=999)], ["a reason is stored for log entry number 999, which has no reason"]


IN_MAIN = sa.select(pools.c.id).where(pools.c.name == "main").scalar_subquery()
RULES = (altered_columns, removed_entries, swapped_entries, added_entries, altered_reasons)


def set_columns(row, columns):
    return sa.update(log).where(log.c.seq == row.seq).values(columns)


@both_kinds
def test_every_kind_of_tampering_is_found_and_named(filled):
    """Each rule is applied to every entry, found and rolled back."""
    assert {column.name for column in log.c} == LINKED
    every, tampered = entries(filled), 0
    assert len(every) == 8
    assert filled.verify() == []
    with filled.engine.connect() as connection:
        other = connection.execute(sa.select(pools.c.id).where(pools.c.name == "other")).scalar_one()
        for rule in RULES:
            for statements, expected in rule(every, other):
                for statement in statements:
                    connection.execute(statement)
                found = "\n".join(faults(connection, ("main", "other")))
                assert [each for each in expected if each not in found] == [], (rule, statements, found)
                connection.rollback()
                tampered += 1
        assert tampered > 100
        assert faults(connection) == []


@both_kinds
def test_a_receipt_reveals_removed_last_entries(filled):
    receipts = [filled.submit("main", rows(number, ["ana", "ben"]))[0] for number in (4, 5)]
    last = entries(filled)[-1]
    heads = [each.head for each in receipts]
    assert heads[-1] == Head(last.place, last.hash.hex())
    assert filled.verification("main", heads).findings == []
    assert filled.verification(heads=heads).findings == []
    with filled.engine.begin() as connection:
        connection.execute(sa.delete(log).where(log.c.seq == last.seq))
        assert faults(connection) == []
    found = filled.verification("main", heads).findings
    assert f"main: log entry 10 was removed: the log ends before the head {heads[1]}" in found
    assert f"no pool's log has the head {heads[1]}" in filled.verification(heads=heads).findings
    assert not any(str(heads[0]) in each for each in found)


def test_a_recalculated_chain_has_another_head(filled):
    (receipt,) = filled.submit("main", rows(2, ["ana", "ben"]))
    assert receipt.duplicate
    every, previous = entries(filled), GENESIS
    with filled.engine.begin() as connection:
        for row in every:
            columns = {name: getattr(row, name) for name in HASHED} | ({"actor": "nobody"} if row.place == 4 else {})
            previous = entry_hash(previous, columns.values())
            values = {"actor": columns["actor"], "hash": previous}
            connection.execute(sa.update(log).where(log.c.seq == row.seq).values(values))
    assert filled.verify("main") == []
    (found,) = filled.verification("main", [receipt.head]).findings
    assert f"log entry 8 does not match the head {receipt.head}" in found


def test_one_error_does_not_stop_the_other_checks(filled):
    every = entries(filled)
    with filled.engine.begin() as connection:
        for place in (3, 7):
            connection.execute(sa.update(log).where(log.c.seq == every[place - 1].seq).values(actor="x"))
        connection.execute(sa.update(witness).values(digest=b"other"))
    found = "\n".join(filled.verify())
    for expected in (
        "main: log entry 3 (",
        "main: log entry 7 (",
        "main: a replay gives different changes from the stored ones",
    ):
        assert expected in found
    with pytest.raises(StoreError, match="the chain is broken at log entry 3 "):
        list(filled.export_pool("main"))


def test_the_hash_follows_the_documented_rule():
    """The test computes it by hand, because any program must be able to check a log."""
    columns = dict.fromkeys(HASHED) | {"place": 1, "kind": "void", "subject": "é", "body": b""}
    expected = GENESIS
    for value in (b"1", None, b"void", None, "é".encode(), b"", None, None, None):
        expected += b"\0" if value is None else b"\1" + len(value).to_bytes(8, "big") + value
    assert entry_hash(GENESIS, columns.values()) == hashlib.sha256(expected).digest()
    other = columns | {"kind": "voi", "subject": "dé"}
    assert entry_hash(GENESIS, other.values()) != entry_hash(GENESIS, columns.values())


def test_all_kinds_of_receipts_have_a_head(filled):
    (first,) = filled.submit("main", rows(7, ["ana", "ben"]))
    assert filled.submit("main", rows(7, ["ana", "ben"]))[0].head == first.head
    assert filled.submit("main", rows(8, ["ana", "ben"]), dry_run=True)[0].head is None
    assert filled.void("main", "e7", dry_run=True).head is None
    voided = filled.void("main", "e7")
    assert voided.head.place == first.head.place + 1
    assert filled.void("main", "e7").head == voided.head
    assert filled.log("main")[-1].hash == voided.head.hash
    with calling(filled) as client:
        (receipt,) = client.post("/api/v1/pools/main/events", json=event(9, ["ana", "ben"])).json()
        with filled.engine.begin() as connection:
            assert receipt["head"] == asdict(newest_head(get_pool(connection, "main")))
        path = "/api/v1/pools/main/events/e9/void"
        assert client.post(path, params={"reason": "a test\n"}).json()["head"]["place"] == receipt["head"]["place"] + 1
        assert client.post(path, params={"reason": "a\nb"}).status_code == 422
        entry = client.get("/api/v1/pools/main/log").json()[-1]
    assert (entry["kind"], entry["reason"]) == ("void", "a test")
    most = max(abs(each["rating"] - each["rating_before"]) for each in receipt["changes"])
    assert entry["moved"] == {"events": 1, "players": 2, "largest": most}


def test_a_reason_can_be_blanked(filled):
    (amended,) = (each for each in filled.log("main") if each.kind == "amend")
    assert amended.reason == "ben had left"
    filled.blank_reason("main", amended.seq, actor="admin")
    assert filled.verification("main").findings == []
    assert filled.verification("main").heads[0].endswith("; 1 reason is blanked")
    assert [each.reason for each in filled.log("main")] == [None] * 9
    assert (filled.log("main")[-1].kind, filled.log("main")[-1].subject) == ("blank", "6")
    for seq in (amended.seq, 999):
        with pytest.raises(podium.UnknownError):
            filled.blank_reason("main", seq)


def test_anonymizing_blanks_reasons_with_the_name(filled):
    filled.unvoid("main", "e3", reason="CLE\u0301O was there")
    filled.void("main", "e3", reason="cleo's word")
    filled.anonymize("main", "Cléo")
    assert [each.reason for each in filled.log("main") if each.reason] == ["ben had left"]
    assert "cl" not in "".join(filled.export_pool("main")).casefold().replace("close", "")
    assert filled.verify() == []


def test_a_guessed_name_cannot_be_confirmed_without_the_secret(filled):
    filled.submit("other", rows(1, ["ana", "ben"]))
    (content,) = contents_in([column_lists(filled.results("other").frame.drop("pool"))]).values()
    with filled.engine.connect() as connection:
        stored = connection.execute(sa.select(log.c.kind, log.c.digest, log.c.pool_id)).all()
        secret = get_pool(connection, "other").secret
        assert get_pool(connection, "main").secret != secret
    digests = [row.digest for row in stored]
    assert [digests.count(digest) for digest in digests_of([content], secret)] == [1]
    assert {*digests_of([content], b"")}.isdisjoint(digests)
    plain = hashlib.blake2b(b"text", digest_size=16).digest()
    assert keyed_digest(b"text", secret) == hmac.digest(secret, plain, "sha256")[:16]
    assert all(len(row.digest) == (16 if row.kind in ("submit", "amend") else 0) for row in stored)


def test_a_log_without_a_chain_accepts_no_entries(filled):
    with filled.engine.begin() as connection:
        connection.execute(sa.update(log).values(place=None, hash=None))
    for act in (lambda: filled.void("main", "e1"), lambda: list(filled.export_pool("main"))):
        with pytest.raises(StoreError, match=r"a log without a chain, .*; run podium pool export with the version"):
            act()
    assert any("was added: it is not in the chain" in each for each in filled.verify())


def test_the_hash_of_a_reason_is_salted(filled):
    with filled.engine.connect() as connection:
        row = connection.execute(sa.select(reason)).one()
    (entry,) = (each for each in entries(filled) if each.reason_hash is not None)
    assert entry.seq == row.seq
    assert entry.reason_hash == reason_hash(row.salt, "ben had left") != reason_hash(b"", "ben had left")
    for text, fault in (("a\x00b", "contains a non"), ("x" * 501, "has 501"), ("\ud800", "contains a non")):
        with pytest.raises(podium.ParameterError, match=f"the reason {fault}"):
            filled.void("main", "e1", reason=text)
