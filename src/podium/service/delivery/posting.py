"""Sending to a URL that somebody gave: to no private address, no further than that address, and within a time."""

import asyncio
import socket
import ssl
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

import h11
from anyio import CapacityLimiter, to_thread

from podium import __version__
from podium.errors import ParameterError, PodiumError

EXCHANGE_S = 10.0  # of a whole delivery: the name's look-up, the connection and the answer
CHUNK = 65_536  # bytes that are read at a time
LOOK_UPS = CapacityLimiter(16)  # a name's look-up cannot be interrupted
PROTOCOL_ADDRESSES = IPv4Network("192.0.0.0/24")
UNICAST = IPv6Network("2000::/3")  # all else is local, or stands for another address


class DeliveryError(PodiumError):
    """What was sent did not arrive, or was not taken."""


async def post(url: str, body: bytes, headers: dict[str, str], *, allow_private: bool) -> int:
    """Send a body, follow no redirection, and return the status of the answer.

    Raises:
        DeliveryError: it could not be sent, or there was no answer in time.
    """
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(EXCHANGE_S):
            found = await to_thread.run_sync(look_up, parts, abandon_on_cancel=True, limiter=LOOK_UPS)
            return await exchange(parts, permitted(found, allow_private=allow_private), body, headers)
    except TimeoutError:
        raise DeliveryError(f"no answer within {EXCHANGE_S:g} s") from None
    except (OSError, UnicodeError, h11.ProtocolError) as error:
        raise DeliveryError(f"{type(error).__name__}: {error}") from None


async def exchange(parts: SplitResult, address: str, body: bytes, headers: dict[str, str]) -> int:
    """Send a body to an address, whatever the name stands for by now; a certificate must be for the name."""
    tls, name = (tls_context(), parts.hostname) if parts.scheme == "https" else (None, None)
    reader, writer = await asyncio.open_connection(address, port_of(parts), ssl=tls, server_hostname=name)
    try:
        sent = {"Host": parts.netloc, "User-Agent": f"podium/{__version__}", "Content-Length": str(len(body))} | headers
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = h11.Connection(h11.CLIENT)
        for each in (
            h11.Request(method="POST", target=target, headers=[*sent.items(), ("Connection", "close")]),
            h11.Data(body),
            h11.EndOfMessage(),
        ):
            writer.write(connection.send(each) or b"")
        await writer.drain()
        while not isinstance(answer := connection.next_event(), h11.Response):
            if answer is h11.NEED_DATA:
                connection.receive_data(await reader.read(CHUNK))
        return answer.status_code
    finally:
        writer.transport.abort()


@cache
def tls_context() -> ssl.SSLContext:
    """The certificates that the machine trusts."""
    return ssl.create_default_context()


def port_of(parts: SplitResult) -> int:
    """The port of a URL."""
    return parts.port or (443 if parts.scheme == "https" else 80)


def look_up(parts: SplitResult) -> list[str]:
    """Return the addresses of a URL's name.

    Raises:
        OSError: it has none.
        UnicodeError: no look-up can encode it.
    """
    found = socket.getaddrinfo(parts.hostname, port_of(parts), type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


def permitted(addresses: list[str], *, allow_private: bool) -> str:
    """Return the first of a name's addresses that may be sent to.

    Raises:
        DeliveryError: all are private.
    """
    for each in addresses:
        if allow_private or is_public(ip_address(each)):
            return each
    raise DeliveryError(f"{addresses[0]} is not a public address; podium webhook create --private sends to it")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one that anybody can reach, and stands for no other."""
    if isinstance(address, IPv6Address):
        fits = address in UNICAST and not (address.sixtofour or address.teredo)
    else:
        fits = address not in PROTOCOL_ADDRESSES
    return fits and address.is_global and not address.is_multicast


def is_found(url: str, *, allow_private: bool) -> bool:
    """Whether a URL's name resolves today.

    Raises:
        ParameterError: to private addresses alone, and these are not allowed.
    """
    try:
        permitted(look_up(urlsplit(url)), allow_private=allow_private)
    except DeliveryError as error:
        raise ParameterError(str(error)) from None
    except OSError:
        return False
    return True
