"""Players: cards, changes, rivals, explanations."""
