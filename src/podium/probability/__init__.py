"""The mathematics of performances, independent of Podium: the probabilities of ranks and of beating an opponent."""
