"""What derives from the log: ledger, standings, daily ranks; brought up to date and verified."""
