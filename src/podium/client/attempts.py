"""What went wrong with a request, and whether and when to send it again.

Sending again is safe: the service takes an event once, however often it is sent.
"""

from typing import Any

from podium.errors import PodiumError

DEFAULT_TRIES = 5
FIRST_PAUSE_S = 0.2  # doubled after each try
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

    Before each, `pause_s` is how many seconds to wait; `error` is what went wrong last.
    """

    def __init__(self, tries: int) -> None:
        self.remaining, self.pause_s = max(1, tries), 0.0
        self.error = ClientError("nothing was sent")
        self._next_pause_s = FIRST_PAUSE_S

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
            self.remaining = 0
        return False

    def _count(self, requested_pause_s: float) -> None:
        """Count an attempt that failed."""
        self.remaining -= 1
        self.pause_s = max(self._next_pause_s, requested_pause_s)
        self._next_pause_s = 2.0 * self.pause_s


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
