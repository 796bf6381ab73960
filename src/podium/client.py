"""A client of the service. Needs the extra `client`.

Retries are safe: the service takes an event once, however often it is sent.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Self

from podium.errors import ParameterError, PodiumError, needs_extra

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


class Client:
    """The service at an address, with a key; a context manager, or `close` it.

    Every method raises `ClientError` where the service refuses: 401 and 403 for the key, 404 for what there is not,
    422 for what does not fit.
    """

    def __init__(
        self, url: str, key: str, *, timeout_s: float = 10.0, tries: int = DEFAULT_TRIES, transport: Any = None
    ) -> None:
        """Connect.

        Args:
            url: the service's address, as `http://127.0.0.1:8000`.
            timeout_s: of each try.
            tries: how often a request is sent before it is given up.
            transport: of httpx2, for tests.

        Raises:
            MissingExtraError: the extra `client` is not installed.
            ParameterError: the address does not begin with http:// or https://.
        """
        if not url.lower().startswith(("http://", "https://")):
            raise ParameterError(f"{url} is no address of a service: begin with http:// or https://")
        with needs_extra("client", "the client"):
            import httpx2  # noqa: PLC0415  (an extra)
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx2.Client(
            base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=timeout_s, transport=transport
        )
        self._unreachable = httpx2.TransportError
        self._tries = max(1, tries)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def pools(self) -> list[dict[str, Any]]:
        """List every ladder.

        Returns:
            `name, system, parameters` of each.
        """
        rows: list[dict[str, Any]] = self._request("GET", "/pools")
        return rows

    def create_pool(self, name: str, system: str, **parameters: float | str | bool | None) -> dict[str, Any]:
        """Open a ladder.

        Returns:
            The pool: `name, system, parameters`.

        Raises:
            ClientError: 409 where there is one, 422 where the system or a parameter does not fit.
        """
        return self._object("POST", "/pools", {"name": name, "system": system, "parameters": parameters})

    def configure(self, pool: str, system: str, **parameters: float | str | bool | None) -> int:
        """Rate a ladder with another system from its first event on.

        Returns:
            How many rows of the history changed.
        """
        body = {"system": system, "parameters": parameters}
        return int(self._object("PUT", f"{pool_path(pool)}/system", body)["rerated"])

    def submit(
        self, pool: str, events: Mapping[str, Any] | Iterable[Mapping[str, Any]], *, dry_run: bool = False
    ) -> list[dict[str, Any]]:
        """Submit one event or several, each `{"event_id", "started_at", "entries": [{"player", …}]}`.

        Returns:
            A receipt each: `event_id, seq, status, reason, duplicate, changes, rerated, effects`.

        Raises:
            ClientError: 409 where an event is known with other content, 422 where one does not fit.
        """
        body = dict(events) if isinstance(events, Mapping) else {"events": [dict(each) for each in events]}
        rows: list[dict[str, Any]] = self._request("POST", f"{pool_path(pool)}/events", body, dry_run_params(dry_run))
        return rows

    def event(self, pool: str, event_id: str) -> dict[str, Any]:
        """Show an event as it is now, and what it did.

        Returns:
            Its entries, status, time and changes.
        """
        return self._object("GET", f"{pool_path(pool)}/events/{quote_name(event_id)}")

    def amend(self, pool: str, event: Mapping[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        """Correct an event; with `dry_run` return the effects and store nothing.

        Returns:
            A receipt, as of `submit`.

        Raises:
            ClientError: 404 where there is none, 422 where it does not fit.
        """
        return self._object(
            "PUT",
            f"{pool_path(pool)}/events/{quote_name(str(event['event_id']))}",
            dict(event),
            dry_run_params(dry_run),
        )

    def void(self, pool: str, event_id: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Void an event: it counts for nothing.

        Returns:
            A receipt, as of `submit`.
        """
        return self._object(
            "POST", f"{pool_path(pool)}/events/{quote_name(event_id)}/void", None, dry_run_params(dry_run)
        )

    def restore(self, pool: str, event_id: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Restore a voided event: it counts again.

        Returns:
            A receipt, as of `submit`.
        """
        return self._object(
            "POST", f"{pool_path(pool)}/events/{quote_name(event_id)}/restore", None, dry_run_params(dry_run)
        )

    def register(
        self, pool: str, match_id: str, entrants: Iterable[str | Mapping[str, Any]], *, expires_in_s: float = 86_400.0
    ) -> dict[str, Any]:
        """Register a match that starts; its result then has this `match_id`, and who is missing from it has quit.

        Args:
            entrants: names, or a `player` and a `team` each.
            expires_in_s: seconds that the match waits for its result.

        Returns:
            The match: its id, entrants, state and expiry.
        """
        rows = [{"player": each} if isinstance(each, str) else dict(each) for each in entrants]
        body = {"match_id": match_id, "entrants": rows, "expires_in_s": expires_in_s}
        return self._object("POST", f"{pool_path(pool)}/matches", body)

    def match(self, pool: str, match_id: str) -> dict[str, Any]:
        """Show a registered match, and what came of it.

        Returns:
            The match: its id, entrants, state and expiry, and the event that is its result.
        """
        return self._object("GET", f"{pool_path(pool)}/matches/{quote_name(match_id)}")

    def leaderboard(self, pool: str, *, top: int = 100, cursor: str | None = None, **filters: Any) -> dict[str, Any]:
        """Show a page of the leaderboard.

        Args:
            top: rows of the page.
            cursor: `next` of the page before.
            filters: `min_events`, `max_deviation`, `active_within`, `at`.

        Returns:
            `players`, a row each, and `next`, the cursor of the page after it; None on the last.
        """
        options = {"top": top, "cursor": cursor} | filters
        params = {name: value for name, value in options.items() if value is not None}
        return self._object("GET", f"{pool_path(pool)}/leaderboard", None, params)

    def player(self, pool: str, player: str) -> dict[str, Any]:
        """Show a player's rank and history.

        Returns:
            `rank, player, rating` and the like, and `history`, newest change first.
        """
        return self._object("GET", f"{pool_path(pool)}/players/{quote_name(player)}")

    def neighbours(self, pool: str, player: str, *, each: int = 5) -> list[dict[str, Any]]:
        """Show a player among those ranked next.

        Args:
            each: how many above, and how many below.

        Returns:
            A row a player, best first.
        """
        rows: list[dict[str, Any]] = self._request(
            "GET", f"{pool_path(pool)}/players/{quote_name(player)}/neighbours", None, {"each": each}
        )
        return rows

    def explain(self, pool: str, event_id: str, player: str) -> dict[str, Any]:
        """Explain why a player's rating moved in an event.

        Returns:
            The change in points, its reasons as rows, and the reasons in a sentence.
        """
        return self._object("GET", f"{pool_path(pool)}/events/{quote_name(event_id)}/players/{quote_name(player)}")

    def compare(self, pool: str, player: str, other: str) -> dict[str, Any]:
        """Compare two players: where they stand, what is expected, and every event in which they met.

        Returns:
            Both as they stand, the expected score of the first, and their common events.
        """
        return self._object("GET", f"{pool_path(pool)}/compare", None, {"player": player, "other": other})

    def predict(self, pool: str, entrants: Iterable[str], *, top: int = 3) -> dict[str, Any]:
        """Predict the chances of a field.

        Args:
            entrants: names; whoever has not played is a newcomer.
            top: how many places count as the top.

        Returns:
            `entrants`, `ranks` and `pairs` with chances between 0 and 1, and `newcomers`, who have not played.
        """
        return self._object("POST", f"{pool_path(pool)}/predict", {"entrants": list(entrants), "top": top})

    def matchmaking(self, pool: str, tickets: Iterable[Mapping[str, Any]], **policy: float) -> list[dict[str, Any]]:
        """Propose the matches to start now, of tickets with a `player` and `waited_s` each.

        Args:
            policy: `size`, `teams`, `least`, `target_s`, `scale`.

        Returns:
            A row a match; empty where nobody should start yet.
        """
        rows: list[dict[str, Any]] = self._request(
            "POST", f"{pool_path(pool)}/matchmaking", {"tickets": [dict(each) for each in tickets]} | policy
        )
        return rows

    def merge(self, pool: str, player: str, into: str) -> int:
        """Let one player's results be another's.

        Returns:
            How many rows of the history changed.

        Raises:
            ClientError: 404 where one has no rating, 422 where they met.
        """
        return int(self._object("POST", f"{pool_path(pool)}/merge", {"player": player, "into": into})["rerated"])

    def unmerge(self, pool: str, player: str) -> int:
        """Let a merged account be a player of its own again, as if that merge had never been.

        Returns:
            How many rows of the history changed.

        Raises:
            ClientError: 404 where there is no such player, 409 where the account was never merged.
        """
        return int(self._object("POST", f"{pool_path(pool)}/players/{quote_name(player)}/unmerge")["rerated"])

    def rename(self, pool: str, player: str, name: str) -> None:
        """Give a player another name, everywhere."""
        self._object("POST", f"{pool_path(pool)}/players/{quote_name(player)}/rename", {"name": name})

    def pseudonymise(self, pool: str, player: str) -> str:
        """Forget every name that a player had.

        Returns:
            The pseudonym.
        """
        return str(self._object("POST", f"{pool_path(pool)}/players/{quote_name(player)}/pseudonymise")["name"])

    def begin_season(self, pool: str, name: str, starts_at: str, *, keep: float) -> int:
        """Shrink every lead over a newcomer to a share of itself.

        Args:
            starts_at: ISO 8601.
            keep: the share, from 0 to 1.

        Returns:
            How many rows of the history changed.
        """
        body = {"name": name, "starts_at": starts_at, "keep": keep}
        return int(self._object("POST", f"{pool_path(pool)}/seasons", body)["rerated"])

    def export(self, pool: str, table: str = "history", kind: str = "parquet") -> bytes:
        """Fetch a table as a file.

        Args:
            table: `results` or `history`.
            kind: `parquet` or `csv`.

        Returns:
            The bytes of the file.
        """
        return bytes(self._send("GET", f"{pool_path(pool)}/export/{table}.{kind}").content)

    def _object(
        self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = self._request(method, path, body, params)
        return answer

    def _request(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        return self._send(method, path, body, params).json()

    def _send(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request, again where there was no answer or the error may be temporary; return the answer."""
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
                return answer
            problem = client_error(answer)
            if answer.status_code not in RETRY_STATUSES:
                break
            pause = max(pause, retry_after_s(answer))
        raise problem


def retry_after_s(answer: Any) -> float:
    """Return how many seconds the service requests to wait."""
    seconds = answer.headers.get("retry-after", "")
    return min(float(seconds), MAX_PAUSE_S) if seconds.isdecimal() else 0.0


def pool_path(pool: str) -> str:
    """Return the path of a pool."""
    return f"/pools/{quote_name(pool)}"


def dry_run_params(dry_run: bool) -> dict[str, str] | None:  # noqa: FBT001  (one word for one thing)
    """Return the query of a dry run."""
    return {"dry_run": "true"} if dry_run else None


def quote_name(part: str) -> str:
    """Return a name as a part of an address."""
    from urllib.parse import quote  # noqa: PLC0415  (small, and used in this function only)

    dots = part in (".", "..")  # which every client takes for a folder
    return part.replace(".", "%2E") if dots else quote(part, safe="")


def client_error(answer: Any) -> ClientError:
    """Return the problem that the service answered as an error."""
    try:
        problem = answer.json()
        return ClientError(str(problem["detail"]), answer.status_code, problem.get("field"))
    except (ValueError, KeyError, TypeError):
        return ClientError(f"the service answered {answer.status_code}", answer.status_code)
