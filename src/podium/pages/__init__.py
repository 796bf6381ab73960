"""Formatted numbers, pictures, and the other parts from which web pages and reports are made."""
