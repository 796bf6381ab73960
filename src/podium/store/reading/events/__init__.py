"""Events, their headlines and movers."""
