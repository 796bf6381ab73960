"""Results that players report with personal links, and the time at which they count."""

from dataclasses import replace

from podium.errors import PodiumError
from podium.log.database import UnavailableError
from podium.store.reading.moments import reads, writes
from podium.store.store import Store
from podium.store.writing import player_links, reports
from podium.store.writing.receipts import Receipt
from podium.store.writing.submission import ConflictError

links, player_with = reads(player_links.links), reads(player_links.player_with)
change_links = writes(player_links.change_links)
list_reports, add_report = reads(reports.list_reports), writes(reports.add_report)
answer_report, keep, accept_due = writes(reports.answer_report), writes(reports.keep), writes(reports.accept_due)


def count_reports(store: Store, pool_name: str) -> list[Receipt]:
    """Submit all accepted reports of a pool as events, and return the receipts.

    Raises:
        PodiumError: the event of a report is invalid, for example because two of its players were merged. The report
            is then disputed.
    """
    receipts: list[Receipt] = []
    for found, rows in accept_due(store, pool_name):
        decided = replace(found, actor="")  # it may be a name
        try:
            receipts += store.submit(pool_name, rows, actor=found.actor)
        except UnavailableError:
            raise
        except ConflictError:  # it was submitted earlier, and its event has changed since
            pass
        except PodiumError:
            keep(store, pool_name, replace(decided, status=reports.DISPUTED))
            raise
        keep(store, pool_name, replace(decided, status=reports.COUNTED))
    return receipts
