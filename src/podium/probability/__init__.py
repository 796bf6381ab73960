"""Mathematics of performances, without Podium: chances of ranks and of beating one another."""
