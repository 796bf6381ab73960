"""Pools in memory: immutable snapshots that follow from a pool's log. Nothing here knows the database."""
