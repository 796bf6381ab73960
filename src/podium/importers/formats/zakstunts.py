"""Race positions of ZakStunts, a Stunts competition, as `data/Zak/zakstunts-race-positions.csv` of elo-zs has them.

Source: duplode/elo-zs, which rates these races.
"""

from collections.abc import Sequence

from podium.importers.collecting import Collector, Event
from podium.importers.registry import Imported, Options
from podium.importers.sources import Record, csv_records, sources

COLUMNS = ("Track", "Racer", "Rank", "Ghost", "Status")
COUNTS = ("", "MSC")
DISQUALIFIED = ("EX1", "EX2", "EX3", "DSQ", "INV", "MEC")


def read(files: Sequence[str], options: Options) -> Imported:
    collector = Collector(options)
    for path in files:
        for source in sources(path):
            events: dict[str, Event] = {}
            for record in csv_records(source, COLUMNS):
                track = record.cells.get("Track", "").strip()
                event = events.setdefault(track, Event(source.name, record.place, f"ZCT{track.removeprefix('C')}"))
                event.shared = {"pool": "zakstunts"}
                add(record, event)
            for event in events.values():
                collector.take(event)
    return collector.imported()


def add(record: Record, event: Event) -> None:
    racer, rank, ghost, status = (record.cells.get(name, "").strip() for name in COLUMNS[1:])
    if record.uneven:
        event.refuse(None, record.uneven, place=record.place)
        return
    if not record.cells["Track"].strip():
        event.refuse("", "is empty; every row needs a track", "Track", record.place)
    if not racer:
        event.refuse("", "is empty; every row needs a racer", "Racer", record.place)
    if not (rank.isascii() and rank.isdigit() and int(rank[:10]) > 0):
        event.refuse(rank, "must be a whole number above 0", "Rank", record.place)
    if ghost not in ("0", "1"):
        event.refuse(ghost, "must be 0 or 1", "Ghost", record.place)
    if status not in (*COUNTS, *DISQUALIFIED):
        known = ", ".join((*COUNTS[1:], *DISQUALIFIED))
        event.refuse(status, f"is no status of ZakStunts (nothing, {known})", "Status", record.place)
    if event.faults:
        return
    counts = ghost == "0" and status in COUNTS
    values = {"position": float(rank), "status": "finished" if counts else "disqualified"}
    event.add(racer, values, place=record.place)
