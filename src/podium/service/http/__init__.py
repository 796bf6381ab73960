"""Shared parts of routes: keys, problems, addresses, strict JSON."""
