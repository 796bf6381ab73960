"""The pages of one player: at a glance, every change, and whom they met."""
