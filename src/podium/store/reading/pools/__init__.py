"""Facts of a pool, its log and its export."""
