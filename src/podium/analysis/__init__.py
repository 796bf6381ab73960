"""Evaluate, tune, audit and simulate rating systems."""
