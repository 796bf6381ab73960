"""Results that players report with personal links, and the time at which they count."""

import logging
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
races_to_report = reads(reports.races_to_report)
answer_report, keep, accept_due = writes(reports.answer_report), writes(reports.keep), writes(reports.accept_due)
LOGGER = logging.getLogger(__name__)


def count_reports(store: Store, pool_name: str) -> list[Receipt]:
    """Submit all accepted reports of a pool as events, and return the receipts.

    If an event is invalid, for example because two of its players were merged, the organiser decides about its report.
    """
    receipts: list[Receipt] = []
    for found, rows in accept_due(store, pool_name):
        status = reports.COUNTED
        try:
            receipts += store.submit(pool_name, rows, actor=found.actor)
        except UnavailableError:
            raise
        except PodiumError as error:
            is_submitted = isinstance(error, ConflictError) and found.race is None  # its event has changed since then
            if not is_submitted:
                LOGGER.warning("pool %s: %s does not count: %s", pool_name, found.report_id, error)
                status = reports.DISPUTED
        keep(store, pool_name, replace(found, status=status, actor=""))  # the actor may be a name
    return receipts
