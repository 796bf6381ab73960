"""Boards: who stands where, now and on earlier days; and the search for players."""
