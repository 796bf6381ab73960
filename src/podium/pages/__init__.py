"""Formatted numbers, pictures, and other parts from which web pages and reports are made."""
