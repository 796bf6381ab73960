"""The event log and the data derived from it, in SQLite or PostgreSQL. This needs the `service` extra.

The log is the single source of truth. It records when results are submitted, amended, voided and restored, and when
players are merged. Ratings, the ledger and the leaderboard are derived from the log, with the same kernels as in any
replay. They can be deleted and rebuilt. Ratings never depend on the clock.
"""

from podium.store.store import Store as Store
