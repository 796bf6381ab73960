"""What rating gives, as rows: the ledger, standings, counts of players by rating, states of pools."""
