"""The event log and the data derived from it, in SQLite or PostgreSQL. It needs the extra `service`.

The log is the only source of truth: results as submitted, amended, voided and restored, and merged players.
Ratings, the ledger and the leaderboard are derived from it with the same kernels as any replay. They
can be deleted and rebuilt. Rating never reads the clock.
"""

from podium.store.store import Store as Store
