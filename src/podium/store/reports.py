"""Results that players report with personal links, and the time at which they count."""

import logging

from podium.errors import PodiumError
from podium.log.database import UnavailableError
from podium.store.moments import reads, writes
from podium.store.store import Store
from podium.store.writing import player_links, reports
from podium.store.writing.receipts import Receipt

links, player_with = reads(player_links.links), reads(player_links.player_with)
change_links = writes(player_links.change_links)
list_reports, races_to_report = reads(reports.list_reports), reads(reports.races_to_report)
count_waiting = reads(reports.count_waiting)
add_report, answer_report = writes(reports.add_report), writes(reports.answer_report)
due_reports, count_due, dispute = writes(reports.due_reports), writes(reports.count_due), writes(reports.dispute)
LOGGER = logging.getLogger(__name__)


def count_reports(store: Store, pool_name: str) -> list[Receipt]:
    """Count the reports of a pool to which nobody has objected in time, and return the receipts of their events.

    If an event is invalid, for example because two of its players were merged, the organiser decides about its report.
    """
    receipts: list[Receipt] = []
    for report_id in due_reports(store, pool_name):
        try:
            receipts += count_due(store, pool_name, report_id)
        except UnavailableError:
            raise
        except PodiumError as error:
            LOGGER.warning("pool %s: %s does not count: %s", pool_name, report_id, error)
            dispute(store, pool_name, report_id)
    return receipts
