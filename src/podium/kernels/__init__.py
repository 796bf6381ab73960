"""Compiled code: compiling rules, storing records in tables, and mathematics with the same bits on every machine.

Nothing in this package is specific to ratings.
"""
