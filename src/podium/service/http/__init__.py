"""What every route needs: keys, problems, addresses, strict JSON."""
