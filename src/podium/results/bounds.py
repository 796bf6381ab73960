"""What no honest file has: it is refused before it takes memory or time."""

from collections import Counter
from collections.abc import Collection, Sequence

from podium.errors import Fault, ResultsError

MAX_COLUMNS = 1_000  # of a table, and different keys of its objects
MAX_BOX = 100  # times its filled cells that a sheet may span
FREE_CELLS = 1_000_000  # that any sheet may span


def refuse_wide(columns: Collection[object], table_name: str) -> None:
    """Refuse a table of too many columns: all rows are laid out in each.

    Raises:
        ResultsError: it has.
    """
    if len(columns) > MAX_COLUMNS:
        remedy = f"has {len(columns):,} columns, or keys; a table of results has {MAX_COLUMNS:,} at most"
        raise ResultsError(table_name, [Fault(None, None, None, remedy)])


def refuse_repeated(columns: Sequence[str], table_name: str) -> None:
    """Refuse a header with a name twice.

    Raises:
        ResultsError: it has.
    """
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise ResultsError(table_name, [Fault(None, name, None, "appears twice in the header") for name in twice])
