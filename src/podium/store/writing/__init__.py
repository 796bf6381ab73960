"""Changes to pools: results, corrections, accounts and imports."""
