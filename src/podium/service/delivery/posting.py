"""Sending to a URL that somebody gave: signed, to no private address, and never further than that address.

Signatures are those of Standard Webhooks 1.0 (standardwebhooks.com): HMAC-SHA256 of "id.timestamp.body".
"""

import base64
import hashlib
import hmac
import socket
import ssl
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

from podium import __version__
from podium.errors import PodiumError
from podium.store.webhooks import SECRET_PREFIX

TIMEOUT_S = 10.0
NAT64 = IPv6Network("64:ff9b::/96")  # stands for any IPv4 address, private ones too


class DeliveryError(PodiumError):
    """What was sent did not arrive, or was not taken."""


class PinnedConnection(HTTPConnection):
    """A connection to an address that was looked at before, whatever its name stands for by now."""

    def __init__(self, parts: SplitResult, address: str) -> None:
        tls = parts.scheme == "https"
        self.default_port = 443 if tls else 80
        super().__init__(parts.hostname or "", parts.port or self.default_port, timeout=TIMEOUT_S)
        self.address, self.context = address, ssl.create_default_context() if tls else None

    def connect(self) -> None:
        """Connect to the address; a certificate must be for the name."""
        plain = socket.create_connection((self.address, self.port), TIMEOUT_S)
        self.sock = plain if self.context is None else self.context.wrap_socket(plain, server_hostname=self.host)


def post(url: str, body: bytes, headers: dict[str, str], *, allow_private: bool) -> int:
    """Send a body, follow no redirection, and return the status of the answer.

    Raises:
        DeliveryError: it could not be sent.
    """
    parts = urlsplit(url)
    try:
        connection = PinnedConnection(parts, permitted_address(parts, allow_private=allow_private))
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, body, {"User-Agent": f"podium/{__version__}"} | headers)
            return connection.getresponse().status
        finally:
            connection.close()
    except (OSError, HTTPException, UnicodeError) as error:  # the last of a name that no look-up can encode
        raise DeliveryError(f"{type(error).__name__}: {error}") from None


def permitted_address(parts: SplitResult, *, allow_private: bool) -> str:
    """Return the address to send to.

    Raises:
        DeliveryError: one of the name's addresses is private.
        OSError: the name has none.
    """
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    addresses = [str(each[4][0]) for each in found]
    private = [each for each in addresses if not is_public(ip_address(each))]
    if private and not allow_private:
        raise DeliveryError(f"{private[0]} is not a public address; podium serve --private-webhooks sends to it")
    return addresses[0]


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one that anybody can reach, and stands for no other."""
    if isinstance(address, IPv6Address):
        stands_for_other = address.ipv4_mapped or address.sixtofour or address.teredo
        if stands_for_other or address in NAT64:
            return False
    return address.is_global and not address.is_multicast


def signed_headers(secret: str, message_id: str, timestamp_s: int, body: bytes) -> dict[str, str]:
    """Return the headers by which a receiver knows who sent a body, and when."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    content = f"{message_id}.{timestamp_s}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": f"v1,{signature}",
    }
