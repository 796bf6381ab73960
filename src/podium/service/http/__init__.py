"""Code that all routes share: keys, problems, addresses and strict JSON."""
