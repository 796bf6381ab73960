"""Web addresses: reading a published file, and telling public addresses from private ones."""

import socket
import ssl
import time
from contextlib import closing
from functools import lru_cache
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urljoin, urlsplit

PROTOCOL_ADDRESSES = IPv4Network("192.0.0.0/24")
UNICAST = IPv6Network("2000::/3")  # other addresses are local, or stand for another address
MAX_BYTES, MAX_REDIRECTS, CHUNK_BYTES = 100_000_000, 5, 1 << 16
MAX_TIME_S = 60.0  # for a whole file
MAX_SILENCE_S = 10.0  # for one answer of the server
KEPT_S = 60.0  # how long a file is kept at most, because a command reads it several times


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return True if anyone can reach an address, and it does not stand for another address."""
    if isinstance(address, IPv6Address):
        fits = address in UNICAST and not (address.sixtofour or address.teredo)
    else:
        fits = address not in PROTOCOL_ADDRESSES
    return fits and address.is_global and not address.is_multicast


def is_https(path: str) -> bool:
    return path.lower().startswith("https://")


def download(url: str) -> bytes:
    """Return the file at a public https address, which may be up to a minute old.

    Raises:
        OSError: There is no such file, it is too large or too slow, or its address is private.
    """
    return fetch(url, time.monotonic() // KEPT_S)


@lru_cache(maxsize=1)
def fetch(url: str, _minute: float) -> bytes:
    end = time.monotonic() + MAX_TIME_S
    try:
        for _ in range(MAX_REDIRECTS + 1):
            parts = urlsplit(url)
            with closing(connect(parts)) as connection:
                target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("GET", target, headers={"User-Agent": "podium"})
                answer = connection.getresponse()
                moved = answer.getheader("Location")
                if answer.status == HTTPStatus.OK:
                    content = bytearray()
                    while chunk := answer.read1(CHUNK_BYTES):
                        content += chunk
                        if len(content) > MAX_BYTES:
                            raise OSError(f"it is larger than {MAX_BYTES // 1_000_000} MB")
                        if time.monotonic() > end:
                            raise OSError(f"it takes more than {MAX_TIME_S:g} s")
                    return bytes(content)
                if moved is None:
                    raise OSError(f"the server answers {answer.status}")
                url = urljoin(url, moved)
    except (HTTPException, ValueError) as error:
        raise OSError(f"{type(error).__name__}: {error}") from None
    raise OSError(f"more than {MAX_REDIRECTS} redirects")


def connect(parts: SplitResult) -> HTTPSConnection:
    """Connect to the first address of a host name, unless it is private. The certificate must be for the name."""
    if parts.scheme != "https" or not parts.hostname:
        raise OSError("it leads to an address without https")
    connection = HTTPSConnection(parts.hostname, parts.port)
    found = socket.getaddrinfo(parts.hostname, connection.port, type=socket.SOCK_STREAM)[0][4][0]
    if not is_public(ip_address(found)):
        raise OSError(f"{found} is not a public address")
    plain = socket.create_connection((str(found), connection.port), MAX_SILENCE_S)
    connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
    return connection
