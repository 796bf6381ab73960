"""Typed clients of the service. They need the extra `client`, but `verify_webhook` does not."""

from podium.client.calls import ClientError
from podium.client.clients import AsyncClient, Client
from podium.client.webhooks import SignatureError, verify_webhook

__all__ = ["AsyncClient", "Client", "ClientError", "SignatureError", "verify_webhook"]
