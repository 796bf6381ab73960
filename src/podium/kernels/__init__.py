"""Compiled code: how rules become machine code, how tables hold records, and e^x with the same bits everywhere.

Nothing here is about ratings.
"""
