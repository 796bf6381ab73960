"""Pools in memory: immutable snapshots that are calculated from a pool's log. Nothing here accesses the database."""
