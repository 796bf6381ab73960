"""What went wrong with a request, and whether and when to send it again.

Sending again is safe: the service takes an event once, however often it is sent.
"""

import random
from time import monotonic
from typing import Any

from podium.errors import PodiumError

PATIENCE_S = 30.0  # a restart of the service takes less
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 4.0  # doubled after each try
LEAST_SHARE = 0.5  # of a pause, so that clients that failed together do not come back together
MAX_PAUSE_S = 30.0  # of those that the service may request
RETRY_STATUSES = (429, 502, 503, 504)  # errors that may be temporary


class ClientError(PodiumError):
    """The service refused, or could not be reached.

    `status` is the answer's, 0 where there was none; `field` is what the service named, if it did.
    """

    def __init__(self, message: str, status: int = 0, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.field = status, field


class Attempts:
    """The attempts to send one request, one after the other.

    Before each, `pause_s` is how many seconds to wait; `error` is what went wrong last. None begins once `is_over`.
    """

    def __init__(self, patience_s: float) -> None:
        self.is_over, self.pause_s = False, 0.0
        self.error = ClientError("nothing was sent")
        self._longest_s, self._deadline = FIRST_PAUSE_S, monotonic() + patience_s

    def note_no_answer(self, url: object, error: Exception) -> None:
        """Note that there was no answer."""
        self.error = ClientError(f"{url} cannot be reached ({type(error).__name__})")
        self._count(0.0)

    def note_answer(self, answer: Any) -> bool:
        """Note an answer, and return whether it is what was requested, not an error."""
        if answer.is_success:
            return True
        self.error = client_error(answer)
        self._count(retry_after_s(answer))
        if answer.status_code not in RETRY_STATUSES:
            self.is_over = True
        return False

    def _count(self, requested_pause_s: float) -> None:
        """Count an attempt that failed; there is another where patience lasts for the pause before it."""
        own_pause_s = self._longest_s * random.uniform(LEAST_SHARE, 1.0)  # noqa: S311  (no secret)
        self.pause_s = max(own_pause_s, requested_pause_s)
        self.is_over = monotonic() + self.pause_s > self._deadline
        self._longest_s = min(2.0 * self._longest_s, LONGEST_PAUSE_S)


def retry_after_s(answer: Any) -> float:
    """Return how many seconds the service requests to wait."""
    seconds = answer.headers.get("retry-after", "")
    return min(float(seconds), MAX_PAUSE_S) if seconds.isdecimal() else 0.0


def client_error(answer: Any) -> ClientError:
    """Return the problem that the service answered as an error."""
    try:
        problem = answer.json()
        return ClientError(str(problem["detail"]), answer.status_code, problem.get("field"))
    except (ValueError, KeyError, TypeError):
        return ClientError(f"the service answered {answer.status_code}", answer.status_code)
