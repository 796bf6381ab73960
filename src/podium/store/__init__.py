"""The event log and what is derived from it, in SQLite or PostgreSQL. Needs the extra `service`.

The log is the only truth: results as they were submitted, amended, voided, restored, and players who were merged.
Ratings, the ledger, and the leaderboard derive from it, by the same kernels as any replay, and
can be thrown away and rebuilt. Rating never reads the clock.
"""

from podium.store.store import Store as Store
