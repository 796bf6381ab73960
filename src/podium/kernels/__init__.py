"""Compiled code: the compilation of rules, records in tables, and mathematics with the same bits everywhere.

Nothing in this package is specific to ratings.
"""
