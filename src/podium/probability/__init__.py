"""The mathematics of performances, independent of Podium: chances of ranks, and of one player beating another."""
