"""Commands on the live service and its database."""
