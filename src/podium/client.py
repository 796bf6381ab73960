"""A client of the service. Needs the extra `client`.

Retries are safe: the service takes an event once, however often it is sent.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Self

from podium.errors import PodiumError, needs_extra

TRIES = 5
FIRST_PAUSE_S = 0.2  # doubled from try to try
LONGEST_PAUSE_S = 30.0  # that an answer may ask for
AGAIN = (429, 502, 503, 504)  # statuses that may pass


class ClientError(PodiumError):
    """The service refused, or could not be reached.

    `status` is the answer's, 0 where there was none; `field` is what the service named, if it did.
    """

    def __init__(self, words: str, status: int = 0, field: str | None = None) -> None:
        super().__init__(words)
        self.status, self.field = status, field


class Client:
    """The service at an address, with a key; a context manager, or `close` it.

    Every method raises `ClientError` where the service refuses: 401 and 403 for the key, 404 for what there is not,
    422 for what does not fit.
    """

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
            MissingExtraError: the extra `client` is not installed.
        """
        with needs_extra("client", "the client"):
            import httpx2  # noqa: PLC0415  (an extra)
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

    def pools(self) -> list[dict[str, Any]]:
        """List every ladder.

        Returns:
            `name, system, parameters` of each.
        """
        told: list[dict[str, Any]] = self._ask("GET", "/pools")
        return told

    def create_pool(self, name: str, system: str, **parameters: float | str | bool | None) -> dict[str, Any]:
        """Open a ladder.

        Returns:
            The pool: `name, system, parameters`.

        Raises:
            ClientError: 409 where there is one, 422 where the system or a parameter does not fit.
        """
        return self._told("POST", "/pools", {"name": name, "system": system, "parameters": parameters})

    def configure(self, pool: str, system: str, **parameters: float | str | bool | None) -> int:
        """Rate a ladder with another system from its first event on.

        Returns:
            How many rows of the history changed.
        """
        told = self._told("PUT", f"{at(pool)}/system", {"system": system, "parameters": parameters})
        return int(told["rerated"])

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
        told: list[dict[str, Any]] = self._ask("POST", f"{at(pool)}/events", body, trial(dry_run))
        return told

    def event(self, pool: str, event_id: str) -> dict[str, Any]:
        """Show an event as it stands, and what it did.

        Returns:
            Its entries, status, time and changes.
        """
        return self._told("GET", f"{at(pool)}/events/{quoted(event_id)}")

    def amend(self, pool: str, event: Mapping[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        """Correct an event; with `dry_run` tell the effects and store nothing.

        Returns:
            A receipt, as of `submit`.

        Raises:
            ClientError: 404 where there is none, 422 where it does not fit.
        """
        return self._told("PUT", f"{at(pool)}/events/{quoted(str(event['event_id']))}", dict(event), trial(dry_run))

    def void(self, pool: str, event_id: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Let an event count for nothing.

        Returns:
            A receipt, as of `submit`.
        """
        return self._told("POST", f"{at(pool)}/events/{quoted(event_id)}/void", None, trial(dry_run))

    def restore(self, pool: str, event_id: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Let a voided event count again.

        Returns:
            A receipt, as of `submit`.
        """
        return self._told("POST", f"{at(pool)}/events/{quoted(event_id)}/restore", None, trial(dry_run))

    def register(
        self, pool: str, match_id: str, entrants: Iterable[str | Mapping[str, Any]], *, expires_in_s: float = 86_400.0
    ) -> dict[str, Any]:
        """Register a match that starts; its result then says `match_id`, and who is missing from it has quit.

        Args:
            entrants: names, or a `player` and a `team` each.
            expires_in_s: seconds that the match waits for its result.

        Returns:
            The match: its id, entrants, state and expiry.
        """
        told = [{"player": each} if isinstance(each, str) else dict(each) for each in entrants]
        body = {"match_id": match_id, "entrants": told, "expires_in_s": expires_in_s}
        return self._told("POST", f"{at(pool)}/matches", body)

    def match(self, pool: str, match_id: str) -> dict[str, Any]:
        """Show a registered match, and what came of it.

        Returns:
            The match: its id, entrants, state and expiry, and the event that is its result.
        """
        return self._told("GET", f"{at(pool)}/matches/{quoted(match_id)}")

    def leaderboard(self, pool: str, *, top: int = 100, cursor: str | None = None, **filters: Any) -> dict[str, Any]:
        """Show a page of the leaderboard.

        Args:
            top: rows of the page.
            cursor: `next` of the page before.
            filters: `min_events`, `max_deviation`, `active_within`, `at`.

        Returns:
            `players`, a row each, and `next`, the cursor of the page after it; None on the last.
        """
        asked = {"top": top, "cursor": cursor} | filters
        params = {name: value for name, value in asked.items() if value is not None}
        return self._told("GET", f"{at(pool)}/leaderboard", None, params)

    def player(self, pool: str, player: str) -> dict[str, Any]:
        """Show a player's rank and history.

        Returns:
            `rank, player, rating` and the like, and `history`, newest change first.
        """
        return self._told("GET", f"{at(pool)}/players/{quoted(player)}")

    def neighbours(self, pool: str, player: str, *, each: int = 5) -> list[dict[str, Any]]:
        """Show a player among those ranked next.

        Args:
            each: how many above, and how many below.

        Returns:
            A row a player, best first.
        """
        told: list[dict[str, Any]] = self._ask(
            "GET", f"{at(pool)}/players/{quoted(player)}/neighbours", None, {"each": each}
        )
        return told

    def explain(self, pool: str, event_id: str, player: str) -> dict[str, Any]:
        """Say why a player's rating moved in an event.

        Returns:
            The change in points, its reasons as rows, and the reasons in a sentence.
        """
        return self._told("GET", f"{at(pool)}/events/{quoted(event_id)}/players/{quoted(player)}")

    def compare(self, pool: str, player: str, other: str) -> dict[str, Any]:
        """Compare two players: where they stand, what is expected, and every event in which they met.

        Returns:
            Both as they stand, the expected score of the first, and their common events.
        """
        return self._told("GET", f"{at(pool)}/compare", None, {"player": player, "other": other})

    def predict(self, pool: str, entrants: Iterable[str], *, top: int = 3) -> dict[str, Any]:
        """Tell the chances of a field.

        Args:
            entrants: names; whoever has not played is a newcomer.
            top: how many places count as the top.

        Returns:
            `entrants`, `ranks` and `pairs` with chances between 0 and 1, and `newcomers`, who have not played.
        """
        return self._told("POST", f"{at(pool)}/predict", {"entrants": list(entrants), "top": top})

    def matchmaking(self, pool: str, tickets: Iterable[Mapping[str, Any]], **policy: float) -> list[dict[str, Any]]:
        """Say which matches to start now, of tickets with a `player` and `waited_s` each.

        Args:
            policy: `size`, `teams`, `least`, `target_s`, `scale`.

        Returns:
            A row a match; empty where nobody should start yet.
        """
        told: list[dict[str, Any]] = self._ask(
            "POST", f"{at(pool)}/matchmaking", {"tickets": [dict(each) for each in tickets]} | policy
        )
        return told

    def merge(self, pool: str, player: str, into: str) -> int:
        """Let one player's results be another's.

        Returns:
            How many rows of the history changed.

        Raises:
            ClientError: 404 where one has no rating, 422 where they met.
        """
        return int(self._told("POST", f"{at(pool)}/merge", {"player": player, "into": into})["rerated"])

    def rename(self, pool: str, player: str, name: str) -> None:
        """Call a player otherwise, everywhere."""
        self._told("POST", f"{at(pool)}/players/{quoted(player)}/rename", {"name": name})

    def pseudonymise(self, pool: str, player: str) -> str:
        """Forget every name that a player had.

        Returns:
            The pseudonym.
        """
        return str(self._told("POST", f"{at(pool)}/players/{quoted(player)}/pseudonymise")["name"])

    def begin_season(self, pool: str, name: str, starts_at: str, *, keep: float) -> int:
        """Shrink every lead over a newcomer to a share of itself.

        Args:
            starts_at: ISO 8601.
            keep: the share, from 0 to 1.

        Returns:
            How many rows of the history changed.
        """
        body = {"name": name, "starts_at": starts_at, "keep": keep}
        return int(self._told("POST", f"{at(pool)}/seasons", body)["rerated"])

    def export(self, pool: str, table: str = "history", kind: str = "parquet") -> bytes:
        """Fetch a table as a file.

        Args:
            table: `results` or `history`.
            kind: `parquet` or `csv`.

        Returns:
            The bytes of the file.
        """
        return bytes(self._answer("GET", f"{at(pool)}/export/{table}.{kind}").content)

    def _told(
        self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        told: dict[str, Any] = self._ask(method, path, body, params)
        return told

    def _ask(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        return self._answer(method, path, body, params).json()

    def _answer(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Any:
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
                return answer
            problem = refusal(answer)
            if answer.status_code not in AGAIN:
                break
            pause = max(pause, waiting(answer))
        raise problem


def waiting(answer: Any) -> float:
    """How many seconds the service asks to wait."""
    told = answer.headers.get("retry-after", "")
    return min(float(told), LONGEST_PAUSE_S) if told.isdecimal() else 0.0


def at(pool: str) -> str:
    """Where a pool is."""
    return f"/pools/{quoted(pool)}"


def trial(dry_run: bool) -> dict[str, str] | None:  # noqa: FBT001  (one word for one thing)
    """What asks for a dry run."""
    return {"dry_run": "true"} if dry_run else None


def quoted(part: str) -> str:
    """A name as a part of an address."""
    from urllib.parse import quote  # noqa: PLC0415  (small, and only here)

    dots = part in (".", "..")  # which every client takes for a folder
    return part.replace(".", "%2E") if dots else quote(part, safe="")


def refusal(answer: Any) -> ClientError:
    """What the service said is wrong."""
    try:
        told = answer.json()
        return ClientError(str(told["detail"]), answer.status_code, told.get("field"))
    except (ValueError, KeyError, TypeError):
        return ClientError(f"the service answered {answer.status_code}", answer.status_code)
