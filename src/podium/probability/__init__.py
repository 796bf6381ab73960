"""The mathematics of performances, independent of Podium: probabilities of ranks and of beating an opponent."""
