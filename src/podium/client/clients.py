"""The synchronous and the asynchronous client."""

import ssl
import time
from contextlib import suppress
from typing import Any, ClassVar, Self, TypeVar, get_origin

from podium.client.calls import PATIENCE_S, Attempts, Call, ClientError, ParameterError, encode
from podium.client.custom import CustomRoutes
from podium.client.pages import PageRoutes
from podium.client.reads import ReadRoutes
from podium.client.reports import ReportRoutes
from podium.client.writes import WriteRoutes

Answer = TypeVar("Answer")


class Routes(CustomRoutes, ReadRoutes, PageRoutes, WriteRoutes, ReportRoutes):
    """A client for all routes of the service at an address, authenticated with a key."""

    _KIND: ClassVar[str]  # name of httpx2's client class

    def __init__(
        self, url: str, key: str, *, timeout_s: float = 10.0, patience_s: float = PATIENCE_S, transport: Any = None
    ) -> None:
        """Connect to the service.

        Args:
            url: Address of the service, for example `http://127.0.0.1:8000`.
            key: The API key, or an empty string to read only public pools.
            timeout_s: Timeout for each attempt in seconds.
            patience_s: Number of seconds for retrying a request without a response, or with status 429 or 502 to 504. 0
                means a single attempt.
            transport: An httpx2 transport, for tests.

        Raises:
            ParameterError: The address does not start with http:// or https://.
        """
        import httpx2  # noqa: PLC0415  (a quarter of a second)

        self._http = getattr(httpx2, self._KIND)(**connection(url, key, timeout_s, transport))
        self._no_answer, self._patience_s = httpx2.TransportError, patience_s


class Client(Routes):
    """A client for the service at an address, authenticated with a key. Use it as a context manager, or `close` it.

    Every method raises `ClientError` if the service rejects the request: with status 401 or 403 for the key, 404 for
    something that does not exist, and 422 for invalid input. Times in responses are `datetime` objects. Times in
    requests can also be ISO 8601 strings.
    """

    _KIND = "Client"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, call: Call[Answer]) -> Answer:
        """Send a call. Retry it after a temporary error, and if the service does not respond.

        Returns:
            The response.

        Raises:
            ClientError: the service rejected the request, or could not be reached.
        """
        attempts = Attempts(self._patience_s)
        while not attempts.is_over:
            if attempts.pause_s:
                time.sleep(attempts.pause_s)
            try:
                answer = self._http.request(**request(call))
            except self._no_answer as error:
                attempts.note_no_answer(self._http.base_url, error)
                continue
            if attempts.note_answer(answer):
                return read_answer(call, answer)
        raise attempts.error


class AsyncClient(Routes):
    """An asynchronous client: like `Client`, but with methods to await. It is an asynchronous context manager."""

    _KIND = "AsyncClient"

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(self, call: Call[Answer]) -> Answer:
        """Send a call. Retry it after a temporary error, and if the service does not respond.

        Returns:
            The response.

        Raises:
            ClientError: the service rejected the request, or could not be reached.
        """
        import anyio  # noqa: PLC0415  (of httpx2, and so of the extra)

        attempts = Attempts(self._patience_s)
        while not attempts.is_over:
            if attempts.pause_s:
                await anyio.sleep(attempts.pause_s)
            try:
                answer = await self._http.request(**request(call))
            except self._no_answer as error:
                attempts.note_no_answer(self._http.base_url, error)
                continue
            if attempts.note_answer(answer):
                return read_answer(call, answer)
        raise attempts.error


def connection(url: str, key: str, timeout_s: float, transport: Any) -> dict[str, Any]:
    """Return the arguments of an httpx2 client.

    Raise an error for an address that does not start with http:// or https://.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise ParameterError(f"{url} is not the address of a service. It must start with http:// or https://")
    key = key.strip()  # a key file ends with a newline
    # Reading trusted certificates takes longer than some requests. Without TLS, none are needed.
    speaks_tls = url.lower().startswith("https://")
    return {
        "base_url": f"{url.rstrip('/')}/api/v1",
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": timeout_s,
        "transport": transport,
        "verify": True if speaks_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    }


def request(call: Call[Any]) -> dict[str, Any]:
    """Return the arguments of a request for httpx2."""
    parts: dict[str, Any] = {"method": call.method, "url": call.url(), "params": call.params}
    if call.body is None:
        return parts | {"headers": dict(call.headers)}
    return parts | {"content": encode(call.body), "headers": {"Content-Type": "application/json", **call.headers}}


def read_answer(call: Call[Answer], answer: Any) -> Answer:
    """Return the converted response. Raise ClientError if another server responded, such as a proxy."""
    if call.kind is bytes:
        return call.read(answer.content)
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        value = answer.json()
        if isinstance(value, get_origin(call.kind) or dict):
            return call.read(value)
    message = f"{answer.request.url} does not respond like a Podium service; check the client's address"
    raise ClientError(message, answer.status_code)
