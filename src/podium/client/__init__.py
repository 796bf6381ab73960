"""Clients of the service, whose answers are typed. They need the extra `client`."""

from podium.client.attempts import ClientError
from podium.client.clients import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "ClientError"]
