"""What pages read of a store beyond its tables: boards, names, events and players at a glance, each in a few seeks."""
