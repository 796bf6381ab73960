"""The event log and the data derived from it, in SQLite or PostgreSQL. It needs the `service` extra.

The log is the single source of truth. It records results being submitted, amended, voided and restored, and players
being merged. Ratings, the ledger and the leaderboard are derived from the log with the same kernels that any replay
uses. They can be deleted and rebuilt. Ratings never depend on the clock.
"""

from podium.store.store import Store as Store
