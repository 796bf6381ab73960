"""Helpers for all packages: rounding for people, atomic files, and notebook output."""
