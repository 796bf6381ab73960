"""Pools in memory: immutable snapshots calculated from a pool's log. Nothing here accesses the database."""
