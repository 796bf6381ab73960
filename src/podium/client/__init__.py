"""Typed clients for the service, and a check of its webhooks. The package `podium-client` contains only these."""

from podium.client.calls import ClientError
from podium.client.clients import AsyncClient, Client
from podium.client.webhooks import SignatureError, verify_webhook

__all__ = ["AsyncClient", "Client", "ClientError", "SignatureError", "verify_webhook"]
