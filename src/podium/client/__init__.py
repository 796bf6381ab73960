"""Clients of the service, whose answers are typed. They need the extra `client`; `verify_webhook` needs none."""

from podium.client.calls import ClientError
from podium.client.clients import AsyncClient, Client
from podium.client.webhooks import SignatureError, verify_webhook

__all__ = ["AsyncClient", "Client", "ClientError", "SignatureError", "verify_webhook"]
