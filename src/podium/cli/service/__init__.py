"""Commands for the live service and its database."""
