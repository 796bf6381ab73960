"""Helpers for all packages: rounding for display, atomic files, and notebook output."""
