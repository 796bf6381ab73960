"""What every route stands on: keys, problems, addresses, strict JSON."""
