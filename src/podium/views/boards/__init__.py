"""Boards for today and earlier days, and the search for players."""
