"""Smoothing: skills at every event, estimated from all results."""
