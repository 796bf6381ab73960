"""The HTTP service over a store. Needs the extra `service`."""

from podium.service.app import create_app as create_app
