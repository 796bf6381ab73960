"""Ways that are faster, to the same bits: duels in lanes, heats side by side; newcomers may skip them."""
