"""Acts that are written: results, corrections, accounts, imports."""
