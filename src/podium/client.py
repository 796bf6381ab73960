"""A client of the service. Needs the extra `client`.

Retries are safe: the service takes an event once, however often it is sent.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Self

from podium.errors import ParameterError, PodiumError

TRIES = 5
FIRST_PAUSE_S = 0.2  # doubled from try to try
AGAIN = (429, 502, 503, 504)  # statuses that may pass


class ClientError(PodiumError):
    """The service refused, or could not be reached.

    `status` is the answer's, 0 where there was none; `field` is what the service named, if it did.
    """

    def __init__(self, words: str, status: int = 0, field: str | None = None) -> None:
        super().__init__(words)
        self.status, self.field = status, field


class Client:
    """The service at an address, with a key; a context manager, or `close` it."""

    def __init__(
        self, url: str, key: str, *, timeout_s: float = 10.0, tries: int = TRIES, transport: Any = None
    ) -> None:
        """Connect.

        Args:
            url: the service's address, as `http://127.0.0.1:8000`.
            timeout_s: of each try.
            tries: how often a request is sent before it is given up.
            transport: of httpx2, for tests.

        Raises:
            ParameterError: the extra is not installed.
        """
        try:
            import httpx2  # noqa: PLC0415  (an extra)
        except ImportError:
            raise ParameterError("the client needs an extra: pip install 'podium-ratings[client]'") from None
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx2.Client(
            base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=timeout_s, transport=transport
        )
        self._unreachable = httpx2.TransportError
        self._tries = max(1, tries)

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def submit(self, pool: str, events: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Submit one event or several, each `{"event_id", "started_at", "entries": [{"player", …}]}`.

        Returns:
            A receipt each: `event_id, seq, status, reason, duplicate, changes, rerated`.

        Raises:
            ClientError: 409 where an event is known with other content, 422 where one does not fit.
        """
        body = dict(events) if isinstance(events, Mapping) else {"events": [dict(each) for each in events]}
        told: list[dict[str, Any]] = self._ask("POST", f"/pools/{quoted(pool)}/events", body)
        return told

    def amend(self, pool: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """Correct an event.

        Raises:
            ClientError: 404 where there is none, 422 where it does not fit.
        """
        return self._told("PUT", f"/pools/{quoted(pool)}/events/{quoted(str(event['event_id']))}", dict(event))

    def void(self, pool: str, event_id: str) -> dict[str, Any]:
        """Let an event count for nothing.

        Raises:
            ClientError: 404 where there is none.
        """
        return self._told("POST", f"/pools/{quoted(pool)}/events/{quoted(event_id)}/void")

    def restore(self, pool: str, event_id: str) -> dict[str, Any]:
        """Let a voided event count again.

        Raises:
            ClientError: 404 where there is none.
        """
        return self._told("POST", f"/pools/{quoted(pool)}/events/{quoted(event_id)}/restore")

    def merge(self, pool: str, player: str, into: str) -> int:
        """Let one player's results be another's; how many changes of ratings are new.

        Raises:
            ClientError: 404 where one has no rating, 422 where they met.
        """
        return int(self._told("POST", f"/pools/{quoted(pool)}/merge", {"player": player, "into": into})["rerated"])

    def create_pool(self, name: str, system: str, **parameters: float | str | bool | None) -> dict[str, Any]:
        """Open a ladder.

        Raises:
            ClientError: 409 where there is one, 422 where the system or a parameter does not fit.
        """
        return self._told("POST", "/pools", {"name": name, "system": system, "parameters": parameters})

    def pools(self) -> list[dict[str, Any]]:
        """Every ladder: `name, system`."""
        told: list[dict[str, Any]] = self._ask("GET", "/pools")
        return told

    def leaderboard(self, pool: str, *, top: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """A page: `players`, and `next`, the cursor of the page after it."""
        after = {} if cursor is None else {"cursor": cursor}
        return self._told("GET", f"/pools/{quoted(pool)}/leaderboard", params={"top": top} | after)

    def player(self, pool: str, player: str) -> dict[str, Any]:
        """A player's rank and history.

        Raises:
            ClientError: 404 where there is none.
        """
        return self._told("GET", f"/pools/{quoted(pool)}/players/{quoted(player)}")

    def explain(self, pool: str, event_id: str, player: str) -> dict[str, Any]:
        """Why a player's rating moved in an event.

        Raises:
            ClientError: 404 where the player is not rated in it.
        """
        return self._told("GET", f"/pools/{quoted(pool)}/events/{quoted(event_id)}/players/{quoted(player)}")

    def _told(
        self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        told: dict[str, Any] = self._ask(method, path, body, params)
        return told

    def _ask(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        """The answer; sent again where the service did not answer, or not for good."""
        pause, problem = FIRST_PAUSE_S, ClientError("nothing was sent")
        for attempt in range(self._tries):
            if attempt:
                time.sleep(pause)
                pause *= 2.0
            try:
                answer = self._http.request(method, path, json=body, params=params)
            except self._unreachable as error:
                problem = ClientError(f"{self._http.base_url} cannot be reached ({type(error).__name__})")
                continue
            if answer.is_success:
                return answer.json()
            problem = refusal(answer)
            if answer.status_code not in AGAIN:
                break
        raise problem


def quoted(part: str) -> str:
    """A name as a part of an address."""
    from urllib.parse import quote  # noqa: PLC0415  (small, and only here)

    return quote(part, safe="")


def refusal(answer: Any) -> ClientError:
    """What the service said is wrong."""
    try:
        told = answer.json()
        return ClientError(str(told["detail"]), answer.status_code, told.get("field"))
    except (ValueError, KeyError, TypeError):
        return ClientError(f"the service answered {answer.status_code}", answer.status_code)
