"""The current board, boards of earlier days, and the search for players."""
