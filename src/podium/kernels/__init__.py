"""Compiled code: how rules become machine code, records in tables, e^x with the same bits. Nothing about ratings."""
