"""What is read of one player: the card, the curve, the rivals."""
